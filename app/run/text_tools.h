// Short texts that the command line and the window share. Pure functions.
#pragma once

#include <string>

#include "core/method/method.h"

namespace triescope::app {

// ASCII letters in lower case, everything else as it is.
std::string lower(std::string text);

// What a parameter may be: "1 to 256", "at least 0", "true|false|never"; "" = anything.
std::string range_text(const Parameter& parameter);

}  // namespace triescope::app
