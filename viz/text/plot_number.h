// Numbers as pictures of many runs print them.
#pragma once

#include <string>

namespace triescope::viz {

// "0.031", "0.27", "2.31", "18.4", "536"; "–" for NaN.
std::string plot_number(double value);

}  // namespace triescope::viz
