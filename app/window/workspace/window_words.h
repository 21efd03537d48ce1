// Messages from below speak of the command line's options, because most of them are read there. In the
// window the same things have other names.
#pragma once

#include <string>
#include <string_view>

namespace triescope::app {

// "Name one with --draft PATH, or in the run bar" -> "Name one in the run bar". A text without options
// comes back as it is.
std::string in_window_words(std::string text);

}  // namespace triescope::app
