// How far numbers are from their reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace triescope::app {

// The largest difference over the largest of `expected`, which has as many numbers; infinite if one
// is NaN.
inline double relative_difference(std::span<const float> found, std::span<const float> expected) {
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
    apart = std::max(apart, std::isnan(d) ? HUGE_VAL : d);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return largest > 0 ? apart / largest : apart;
}

}  // namespace triescope::app
