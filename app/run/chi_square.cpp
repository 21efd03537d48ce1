#include "app/run/chi_square.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace triescope::app {
namespace {

constexpr double kLeastExpected = 5;
constexpr int kMostTerms = 10000;

}  // namespace

double chi_square_tail(double value, int degrees) {
  if (degrees < 1 || !(value > 0)) return 1;
  if (!std::isfinite(value)) return 0;
  // Q(a, x), the upper incomplete gamma function over gamma.
  const double a = degrees / 2.0, x = value / 2;
  const double factor = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < kMostTerms && term > sum * 1e-16; ++n) sum += term *= x / (a + n);
    return std::clamp(1 - factor * sum, 0.0, 1.0);
  }
  // Lentz's way through the continued fraction.
  constexpr double kTiny = std::numeric_limits<double>::min() / 1e-16;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = numerator * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    fraction *= c * d;
    if (std::abs(c * d - 1) < 1e-16) break;
  }
  return std::clamp(factor * fraction, 0.0, 1.0);
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
