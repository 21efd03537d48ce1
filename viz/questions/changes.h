// What a stretch of a run changed, for panels that light it. Pure: the same capture and ticks give the
// same answer.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// By node of nodes_at(to): 1 where it was hung in [from, to), or its state is another than at `from`.
std::vector<char> changed_nodes(const capture::Capture& capture, capture::Tick from,
                                capture::Tick to);
// The nodes on the paths in force at the cursor (leaves_at), without the root.
std::unordered_set<std::int32_t> nodes_in_text(const capture::Capture& capture,
                                               capture::Tick cursor);

}  // namespace triescope::viz
