// Whether this machine has a font for letters.
#pragma once

#include <string>

namespace triescope::viz {

// "" if every Latin letter and digit is in some font; else what is missing and what to install.
// Fonts without them (emoji alone, say) do not count: a picture would be boxes.
std::string why_no_letters();

}  // namespace triescope::viz
