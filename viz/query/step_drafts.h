// The drafts of one step: every path that its drafter proposed, whether the step hung it in the
// tree or found it there, left by an earlier step that had withdrawn it. Pure: the same capture and
// cursor give the same answer.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

struct StepDraft {
  std::int32_t node = 0;
  std::int32_t frontier = 0;  // the node of the text from which its path hangs
  std::int32_t level = 1;     // 1 = directly below the frontier
  float score =
      // log-probability of its path below the frontier, according to its drafter; NaN = not
      // recorded
      0;
};

// Orders by score, the likelier first; unknown scores come last.
inline bool is_likelier(const StepDraft& a, const StepDraft& b) {
  return !std::isnan(a.score) && (std::isnan(b.score) || a.score > b.score);
}

// The drafts that are known at the cursor, in the order of their nodes: parents first.
std::vector<StepDraft> step_drafts(const capture::Capture& capture, std::int32_t step,
                                   capture::Tick cursor);

}  // namespace triescope::viz
