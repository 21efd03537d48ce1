// The chi-square test: whether counts may come from a known distribution. Source: Pearson, "On the
// criterion that a given system of deviations …", 1900; its tail after Abramowitz and Stegun,
// 26.4.4 and 26.4.5.
#pragma once

#include <cstdint>
#include <span>

namespace triescope::app {

struct ChiSquare {
  double value = 0;  // sum of (seen - expected)² / expected
  int degrees = 0;   // cells - 1; 0 = nothing can be compared
  // The probability that counts which follow the distribution are at least as far from it. 0 if
  // something was seen that the distribution does not have.
  double p = 1;
};

// counts: how often each was seen; probability: that of each, summing to 1. Cells with an expected
// count below 5 are merged. REQUIRES: equally many of both.
ChiSquare chi_square(std::span<const std::int64_t> counts, std::span<const double> probability);

// The probability that a chi-square value with this many degrees of freedom is at least `value`.
double chi_square_tail(double value, int degrees);

}  // namespace triescope::app
