// Ticks of an axis at round values, and the mapping from values to px. Pure geometry.
#pragma once

#include <vector>

namespace triescope::viz {

// Round values (1, 2, 2.5, 5 × 10^k apart) from low to high, about `wanted` of them, none outside.
// REQUIRES: low < high.
std::vector<double> nice_ticks(double low, double high, int wanted);
// The same for counts: steps are at least 1.
std::vector<double> nice_integer_ticks(double low, double high, int wanted);

struct AxisScale {
  double low = 0, high = 1;  // values
  float from = 0, to = 1;    // px
  float px(double value) const {
    return from + static_cast<float>((value - low) / (high - low)) * (to - from);
  }
  double value(float px) const {
    return low + (high - low) * static_cast<double>((px - from) / (to - from));
  }
};

}  // namespace triescope::viz
