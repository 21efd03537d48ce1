// The command that this process runs.
#pragma once

#include <string>

namespace triescope::app {

// As it would be typed, arguments with blanks in quotes. "" = not known.
std::string command_line();

}  // namespace triescope::app
