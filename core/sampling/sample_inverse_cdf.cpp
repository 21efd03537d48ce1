#include "core/sampling/samplers.h"

namespace triescope {

std::size_t sample_inverse_cdf(std::span<const float> weights, double u) {
  double sum = 0;
  for (const float w : weights) sum += w;
  const double target = u * sum;
  double running = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    running += weights[i];
    last = i;
    if (running > target) break;
  }
  return last;
}

}  // namespace triescope
