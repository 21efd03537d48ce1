// Random inputs of kernels, for their cases and tests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/count_up.h"
#include "core/base/rng.h"

namespace triescope::kernels {

// Roughly normal, at most 4.3 times `scale` away from 0.
inline std::vector<float> random_values(std::int64_t count, Rng& rng, float scale = 1.0f) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) {
    double sum = 0;
    for (int i = 0; i < 6; ++i) sum += rng.uniform() - 0.5;
    v = scale * static_cast<float>(sum * 1.414);
  }
  return values;
}

inline std::vector<std::int32_t> shuffled(std::int32_t count, Rng& rng) {
  auto order = count_up(static_cast<std::size_t>(count));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.next() % i]);
  return order;
}

}  // namespace triescope::kernels
