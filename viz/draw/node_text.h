// The panels' texts about a node at the scene's cursor. Nodes are numbered as in the capture;
// prompt token i is -2 - i.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

// The text of a node's token with visible spaces: "·the"; the root: "prompt"; no such node: "".
std::string node_text(const Scene& scene, std::int32_t node, int max_chars = 24);
// "node 12  ·the  position 40  slot 17", without the slot if the node has none. The slot is that in
// the cache of `whose`.
std::string node_summary(const Scene& scene, std::int32_t node,
                         capture::Whose whose = capture::Whose::kTarget);
// The other run's difference at this node, with its glyph; "" = none, or there is no other run.
std::string difference_text(const Scene& scene, std::int32_t node);
// Lines of a tooltip about a node, formulas included.
std::vector<std::string> node_tooltip(const Scene& scene, std::int32_t node);
// Position ID: prompt tokens count from 0; a node of the tree has prompt tokens + depth - 1.
std::int32_t node_position(const Scene& scene, std::int32_t node);

}  // namespace triescope::viz
