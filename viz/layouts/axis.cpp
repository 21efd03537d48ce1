#include "viz/layouts/axis.h"

#include <algorithm>
#include <cmath>

namespace triescope::viz {
namespace {

std::vector<double> ticks_of(double low, double high, double step) {
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9);
       i * step <= high * (1 + 1e-12) + 1e-12 && ticks.size() < 100; ++i)
    ticks.push_back(i * step + 0.0);  // never -0
  return ticks;
}

double round_step(double raw) {
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0})
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int wanted) {
  if (!(high > low)) return {low};
  return ticks_of(low, high, round_step((high - low) / std::max(1, wanted)));
}

std::vector<double> nice_integer_ticks(double low, double high, int wanted) {
  if (!(high > low)) return {low};
  double step = std::max(1.0, round_step((high - low) / std::max(1, wanted)));
  if (step == 2.5) step = 5;
  return ticks_of(low, high, step);
}

}  // namespace triescope::viz
