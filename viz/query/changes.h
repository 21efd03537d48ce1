// The changes in a stretch of a run, for panels that light them. Pure: the same capture and ticks
// give the same answer.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/beam_decision.h"
#include "viz/query/draw_decision.h"

namespace triescope::viz {

// By node of nodes_at(to): 1 if it was hung in [from, to), or if its state differs from that at
// `from`.
std::vector<char> changed_nodes(const capture::Capture& capture, capture::Tick from,
                                capture::Tick to);
// The nodes on the paths in force at the cursor (leaves_at), without the root.
std::unordered_set<std::int32_t> nodes_in_text(const capture::Capture& capture,
                                               capture::Tick cursor);

// By choice of `now`: 1 if `before` lacks it or gives it another fate. If the step differs, all are
// 1.
std::vector<char> changed_choices(const BeamDecision& before, const BeamDecision& now);
// By token of `now`: all are 1 if the row differs; else only the one that was drawn since.
std::vector<char> changed_draws(const DrawDecision& before, const DrawDecision& now);

}  // namespace triescope::viz
