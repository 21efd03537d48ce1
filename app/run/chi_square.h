// The chi-square test: whether counts may come from a distribution that is known. Source: Pearson, "On
// the criterion that a given system of deviations …", 1900; its tail after Abramowitz and Stegun,
// 26.4.4 and 26.4.5.
#pragma once

#include <cstdint>
#include <span>

namespace triescope::app {

struct ChiSquare {
  double value = 0;  // sum of (seen - expected)² / expected
  int degrees = 0;   // cells - 1; 0 = there is nothing to compare
  // The chance that counts which do follow the distribution are as far from it, or farther. 0 where
  // something was seen that the distribution does not have.
  double p = 1;
};

// counts: how often each was seen; probability: of each, summing to 1. Cells that are expected fewer
// than 5 times are put together. REQUIRES: equally many of both.
ChiSquare chi_square(std::span<const std::int64_t> counts, std::span<const double> probability);

// The chance that a chi-square value of so many degrees of freedom is `value` or more.
double chi_square_tail(double value, int degrees);

}  // namespace triescope::app
