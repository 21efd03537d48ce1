// The places of a step at which drafts could be accepted: the frontier, and below it each accepted
// draft. Drafts below a refused one were no candidates: nobody knows what the target would have
// said of them. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

struct DraftPlace {
  std::int32_t parent = 0;                // the node that the drafts follow
  std::int32_t level = 1;                 // of the drafts: 1 = directly below the frontier
  std::vector<std::int32_t> drafts = {};  // those that were sent, in the order of hanging
  std::int32_t accepted = -1;             // the one of them that became text; -1 = none
};

// By level, then by parent; empty before the step's accept phase has passed.
std::vector<DraftPlace> draft_places(const capture::Capture& capture, std::int32_t step,
                                     capture::Tick cursor);

}  // namespace triescope::viz
