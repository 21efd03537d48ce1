#include "viz/panels/row_source.h"

#include <nlohmann/json.hpp>

namespace triescope::viz {

using capture::Whose;

std::int64_t RowSource::kv_bytes_per_token(const capture::Capture& capture) const {
  if (is_target()) return capture.run().kv_bytes_per_token;
  // A draft model and a draft head are both described as the target's "draft".
  const auto model = nlohmann::json::parse(capture.run().model_json, nullptr, false);
  if (!model.is_object() || !model.contains("draft")) return 0;
  const auto& draft = model["draft"];
  if (!draft.is_object() || !draft.contains("kv_bytes_per_token") ||
      !draft["kv_bytes_per_token"].is_number_integer())
    return 0;
  return draft["kv_bytes_per_token"].get<std::int64_t>();
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
