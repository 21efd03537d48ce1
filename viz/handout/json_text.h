// A JSON string that may stand inside an HTML script element, because others write what a capture
// holds. Pure.
#pragma once

#include <string>
#include <string_view>

namespace triescope::viz {

// The string with its quotes. Bytes that are not UTF-8 become U+FFFD. No '<' remains that could end
// the element or begin a comment, and no line separator (U+2028, U+2029) that a script would take
// for one.
std::string json_text(std::string_view text);

}  // namespace triescope::viz
