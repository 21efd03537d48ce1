// Packed data: the data from which a page's pictures are drawn, small enough to be sent around.
// JSON of thousands of numbers repeats itself: deflated it takes a sixth to an eighth.
// assets/handout/unpack.js reads it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// zlib's format (RFC 1950) in base64 (RFC 4648), which a script element may hold unchanged.
// Error{kOutOfMemory}.
std::string packed_data(std::string_view data);

}  // namespace triescope::viz
