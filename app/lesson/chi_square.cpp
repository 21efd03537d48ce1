#include "app/lesson/chi_square.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace triescope::app {
namespace {

constexpr double kLeastExpected = 5;

}  // namespace

double chi_square_tail(double value, int degrees) {
  if (degrees < 1 || !(value > 0)) return 1;
  // Q(a, x) for a whole or a half: Q(1, x) = e^-x, Q(1/2, x) = erfc √x,
  // Q(a + 1, x) = Q(a, x) + x^a e^-x / Γ(a + 1).
  const double x = value / 2;
  double a = degrees % 2 == 1 ? 0.5 : 1;
  double tail = degrees % 2 == 1 ? std::erfc(std::sqrt(x)) : std::exp(-x);
  for (; a < degrees / 2.0; a += 1) tail += std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  return std::min(tail, 1.0);
}

ChiSquare chi_square(std::span<const std::int64_t> counts, std::span<const double> probability) {
  std::int64_t draws = 0;
  for (const std::int64_t count : counts) draws += count;
  ChiSquare result;
  int cells = 0;
  bool impossible = false;
  double rest_expected = 0, rest_seen = 0;
  const auto add = [&](double expected, double seen) {
    result.value += (seen - expected) * (seen - expected) / expected;
    ++cells;
  };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = probability[i] * static_cast<double>(draws);
    const auto seen = static_cast<double>(counts[i]);
    if (expected == 0) {
      impossible |= seen > 0;
    } else if (expected < kLeastExpected) {
      rest_expected += expected;
      rest_seen += seen;
    } else {
      add(expected, seen);
    }
  }
  if (rest_expected > 0) add(rest_expected, rest_seen);
  result.degrees = std::max(0, cells - 1);
  if (impossible) result.value = std::numeric_limits<double>::infinity();
  result.p = impossible ? 0 : chi_square_tail(result.value, result.degrees);
  return result;
}

}  // namespace triescope::app
