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

// How far drafts come at a level: how often the text got there and how often it went on with a draft.
// This is P(accept at level d | level d − 1 accepted), which shows the level at which a
// drafter loses.
struct LevelAcceptance {
  std::int32_t level = 1;
  // Places with drafts below that were sent and that the target could accept: at level 1 the
  // frontier, below it an accepted draft.
  std::int32_t reached = 0;
  std::int32_t accepted = 0;  // places at which one of those drafts was accepted
};

// One step's figures by level; empty before its accept phase has passed.
std::vector<LevelAcceptance> level_acceptance(const capture::Capture& capture, std::int32_t step,
                                              capture::Tick cursor);

// The 95 % confidence interval of a share (Wilson 1927), within 0 … 1; 0 and 1 if n is 0.
struct ShareInterval {
  double low = 0, high = 1;
};
ShareInterval wilson_interval(std::int64_t successes, std::int64_t n);

}  // namespace triescope::viz
