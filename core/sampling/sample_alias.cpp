#include <algorithm>

#include "core/sampling/samplers.h"

namespace triescope {

AliasTable::AliasTable(std::span<const float> weights)
    : keep_(weights.size()), alias_(weights.size()) {
  double sum = 0;
  for (const float w : weights) sum += w;
  const double scale = static_cast<double>(weights.size()) / sum;
  std::vector<std::uint32_t> small, large;
  std::uint32_t heaviest = 0;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    keep_[i] = weights[i] * scale;  // the average is 1
    alias_[i] = i;
    if (weights[i] > weights[heaviest]) heaviest = i;
    (keep_[i] < 1 ? small : large).push_back(i);
  }
  // A heavy column fills every light one up to 1.
  while (!small.empty() && !large.empty()) {
    const std::uint32_t light = small.back(), heavy = large.back();
    small.pop_back();
    alias_[light] = heavy;
    keep_[heavy] -= 1 - keep_[light];
    if (keep_[heavy] < 1) {
      large.pop_back();
      small.push_back(heavy);
    }
  }
  // The rest is 1 but for rounding. Even so, a column of weight 0 must never be drawn.
  for (const auto& rest : {small, large}) {
    for (const std::uint32_t i : rest) {
      if (weights[i] > 0) {
        keep_[i] = 1;
      } else {
        keep_[i] = 0;
        alias_[i] = heaviest;
      }
    }
  }
}

std::size_t AliasTable::draw(double u) const {
  const double scaled = u * static_cast<double>(keep_.size());
  const auto column = std::min(static_cast<std::size_t>(scaled), keep_.size() - 1);
  return scaled - static_cast<double>(column) < keep_[column] ? column : alias_[column];
}

}  // namespace triescope
