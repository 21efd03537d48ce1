#include "viz/query/level_acceptance.h"

#include <cmath>

#include "viz/query/draft_places.h"

namespace triescope::viz {

std::vector<LevelAcceptance> level_acceptance(const capture::Capture& capture, std::int32_t step,
                                              capture::Tick cursor) {
  std::vector<LevelAcceptance> levels;
  for (const DraftPlace& place : draft_places(capture, step, cursor)) {
    if (levels.empty() || levels.back().level != place.level)
      levels.push_back({.level = place.level});
    ++levels.back().reached;
    levels.back().accepted += place.accepted >= 0;
  }
  return levels;
}

ShareInterval wilson_interval(std::int64_t successes, std::int64_t n) {
  if (n <= 0) return {};
  constexpr double kZ = 1.959963984540054;
  const auto count = static_cast<double>(n);
  const double share = static_cast<double>(successes) / count, z2 = kZ * kZ / count;
  const double middle = share + z2 / 2,
               half = kZ * std::sqrt(share * (1 - share) / count + z2 / (4 * count));
  // The ends of 0 … 1 are exact, because rounding would leave 5e-15.
  return {successes == 0 ? 0 : (middle - half) / (1 + z2),
          successes == n ? 1 : (middle + half) / (1 + z2)};
}

}  // namespace triescope::viz
