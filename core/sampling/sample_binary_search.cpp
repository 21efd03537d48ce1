#include <algorithm>

#include "core/sampling/samplers.h"

namespace triescope {

CdfTable::CdfTable(std::span<const float> weights) {
  sums_.reserve(weights.size());
  double sum = 0;
  for (const float w : weights) sums_.push_back(sum += w);
}

std::size_t CdfTable::draw(double u) const {
  // The first sum above the target wins: an entry of weight 0 repeats the sum before it and is
  // never the first. The target can round up to the whole sum; then the last entry that added to it
  // wins.
  const double target = u * sums_.back();
  auto at = std::upper_bound(sums_.begin(), sums_.end(), target);
  if (at == sums_.end()) at = std::lower_bound(sums_.begin(), sums_.end(), sums_.back());
  return static_cast<std::size_t>(at - sums_.begin());
}

}  // namespace triescope
