// KvRange: what happened to the KV slots in the steps of a dragged range, and to which of them.
// It counts once per range and state of the capture, so that frames cost pixels and not events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/row_source.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

class KvRange {
 public:
  void update(const RowSource& source, const Scene& scene);  // without a range: nothing to say

  bool any() const { return range_.has_value(); }
  std::string steps() const;  // "steps 3–9", "step 3"
  // The figures, most telling first, as many as fit in `width` px.
  std::string text(Canvas& canvas, const TextStyle& style, float width) const;
  // How often a slot's contents were written within the range, moves into it included.
  std::int32_t writes(std::int32_t slot) const {
    return slot >= 0 && slot < static_cast<std::int32_t>(writes_.size())
               ? writes_[static_cast<std::size_t>(slot)]
               : 0;
  }

 private:
  // The range and the state of the capture that it was counted for.
  const capture::Capture* capture_ = nullptr;
  RowSource source_;
  std::int64_t events_ = -1;
  StepRange range_;

  std::int64_t written_ = 0, reused_ = 0, moved_ = 0, died_ = 0, freed_ = 0;
  std::int32_t most_held_ = -1;  // live and garbage, of the steps' samples; -1 = no sample
  std::vector<std::int32_t> writes_;
};

}  // namespace triescope::viz
