// Finds out whether two frames draw the same picture. After each input a window lays out a few frames until it settles, and most
// of them draw the picture that is on the screen already.
#pragma once

#include <cstdint>
#include <optional>

struct ImDrawData;

namespace triescope::app {

// A hash of all vertices, indices and draw commands of a frame. No value: the frame must be drawn, because a texture waits to be
// sent or a command draws by itself.
std::optional<std::uint64_t> picture_hash(const ImDrawData& frame);

}  // namespace triescope::app
