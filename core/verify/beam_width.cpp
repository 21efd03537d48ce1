#include "core/verify/beam_width.h"

#include <algorithm>

namespace triescope {

std::vector<double> chances_of_passes(std::span<const double> pass) {
  const std::size_t most = pass.size();
  // chances[m][k]: of m drafts that are left exactly k pass, counted from a draft that passed.
  std::vector<std::vector<double>> chances(most + 1, std::vector<double>(most + 1, 0));
  for (std::size_t m = 0; m <= most; ++m) {
    double refused = 1;  // all before draft i were
    for (std::size_t i = 0; i < m; ++i) {
      const double first = refused * pass[i];  // draft i is the first that passes
      for (std::size_t k = 1; k <= m; ++k) chances[m][k] += first * chances[m - i - 1][k - 1];
      refused *= 1 - pass[i];
    }
    chances[m][0] = refused;
  }
  return chances[most];
}

int beam_width(std::span<const double> pass, double wanted, int least) {
  const std::vector<double> exactly = chances_of_passes(pass);
  double at_least = 0;
  for (std::size_t n = exactly.size() - 1; n > static_cast<std::size_t>(least); --n) {
    at_least += exactly[n];
    if (at_least >= wanted) return static_cast<int>(n);
  }
  return least;
}

}  // namespace triescope
