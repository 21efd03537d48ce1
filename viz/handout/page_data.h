// A page's data, as it may stand inside an HTML script element. Pure.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// A JSON string with its quotes, safe whatever a capture holds. Bytes that are not UTF-8 become U+FFFD. No '<' remains that could end
// the element or begin a comment, and no line separator (U+2028, U+2029) that a script would take
// for one.
std::string script_string(std::string_view text);

// The data from which a page's pictures are drawn, small enough to be sent around: JSON of thousands of
// numbers repeats itself, and deflated it takes a sixth to an eighth. assets/handout/unpack.js reads it.
// zlib's format (RFC 1950) in base64 (RFC 4648), which a script element may hold unchanged.
// Error{kOutOfMemory}.
std::string packed_data(std::string_view data);

}  // namespace triescope::viz
