// The command line with which this process was started.
#pragma once

#include <string>

namespace triescope::app {

// As it would be typed, with arguments that contain blanks in quotes. "" = unknown.
std::string command_line();

}  // namespace triescope::app
