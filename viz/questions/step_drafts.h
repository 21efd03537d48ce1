// The drafts of one step: every path that its drafter proposed, whether the step hung it in the tree
// or found it there, left over from an earlier step that had withdrawn it. Pure: the same capture
// and cursor give the same answer.
#pragma once

#include <cstdint>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

struct StepDraft {
  std::int32_t node = 0;
  std::int32_t frontier = 0;  // the node of the text that its path hangs on
  std::int32_t level = 1;     // 1 = directly below the frontier
  float score =
      0;  // log-probability of its path below the frontier, to whoever drafted it; NaN = not recorded
};

// Those that are known at the cursor, in the order of their nodes: parents first.
std::vector<StepDraft> step_drafts(const capture::Capture& capture, std::int32_t step,
                                   capture::Tick cursor);

}  // namespace triescope::viz
