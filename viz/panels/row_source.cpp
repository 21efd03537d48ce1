#include "viz/panels/row_source.h"

#include <algorithm>

#include "core/capture/run_fields.h"

namespace triescope::viz {

using capture::Whose;

namespace {

// An integer from the description of the target, or of its drafter. A draft model and a draft head
// are both described under the target's "draft". 0 = absent.
std::int64_t described(const capture::Capture& capture, bool target, const char* name) {
  const capture::RunFields model(capture.run().model_json);
  return (target ? model : model.part("draft")).integer(name, 0);
}

}  // namespace

std::int64_t RowSource::kv_bytes_per_token(const capture::Capture& capture) const {
  return is_target() ? capture.run().kv_bytes_per_token
                     : described(capture, false, "kv_bytes_per_token");
}

RowSource::Weights RowSource::weights(const capture::Capture& capture) const {
  return {described(capture, is_target(), "file_bytes"),
          described(capture, is_target(), "parameters")};
}

std::int64_t RowSource::moved_in(const capture::Capture& capture, std::int32_t step,
                                 capture::Tick cursor) const {
  return std::ranges::count_if(slot_events(capture, step), [&](const capture::SlotRow& row) {
    return row.action == capture::SlotAction::kMove && row.tick < cursor;
  });
}

std::int64_t RowSource::mask_prefix(const capture::Capture& capture) const {
  return is_target() ? described(capture, false, "prefix_slots") : 0;
}

const char* owner_name(Whose whose) {
  switch (whose) {
    case Whose::kDraft:
      return "draft model";
    case Whose::kHead:
      return "draft head";
    case Whose::kTarget:
      break;
  }
  return "target";
}

}  // namespace triescope::viz
