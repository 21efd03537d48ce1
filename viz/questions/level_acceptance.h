// How far drafts come: at each level, how often the text got there and how often it went on with a
// draft. So P(accept at level d | level d − 1 accepted), which says at which level a drafter loses.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

struct LevelAcceptance {
  std::int32_t level = 1;
  // Places whose drafts the target could accept: at level 1 the frontier, below it an accepted draft,
  // with drafts sent below it.
  std::int32_t reached = 0;
  std::int32_t accepted = 0;  // of them: one of those drafts was
};

// Of one step, by level; nothing before its accept phase has passed.
std::vector<LevelAcceptance> level_acceptance(const capture::Capture& capture, std::int32_t step,
                                              capture::Tick cursor);

// The interval that holds a share with 95 % confidence (Wilson 1927), in 0 … 1; 0 and 1 where n is 0.
struct ShareInterval {
  double low = 0, high = 1;
};
ShareInterval wilson_interval(std::int64_t successes, std::int64_t n);

}  // namespace triescope::viz
