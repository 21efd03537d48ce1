#include <limits>

#include "core/sampling/samplers.h"

namespace triescope {

std::size_t sample_gumbel_max(std::span<const float> logits, Rng& rng) {
  std::size_t best = 0;
  double best_value = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double value = logits[i] + rng.gumbel();
    if (value > best_value) {
      best_value = value;
      best = i;
    }
  }
  return best;
}

}  // namespace triescope
