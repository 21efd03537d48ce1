// Tells frames apart by what they draw. A window settles for a few frames after each input, and most of them draw what is on the
// screen already.
#pragma once

#include <cstdint>
#include <optional>

struct ImDrawData;

namespace triescope::app {

// A hash of all vertices, indices and draw commands of a frame. No value: the frame must be drawn, because a texture waits to be
// sent or a command draws by itself.
std::optional<std::uint64_t> picture_hash(const ImDrawData& frame);

}  // namespace triescope::app
