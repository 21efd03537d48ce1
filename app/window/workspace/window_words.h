// Messages from below name the command line's options, because most of them are read there. The
// window has other names for the same things.
#pragma once

#include <string>
#include <string_view>

namespace triescope::app {

// "Name one with --draft PATH, or in the run bar" -> "Name one in the run bar". A text without
// options is returned as it is.
std::string in_window_words(std::string text);

}  // namespace triescope::app
