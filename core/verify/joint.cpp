#include "core/verify/joint.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace triescope {

double sum_of(const JointRows& rows) {
  double sum = 0;
  for (const auto& row : rows)
    for (const double p : row) sum += p;
  return sum;
}

bool normalise_logs(JointRows& rows) {
  double highest = -std::numeric_limits<double>::infinity();
  for (const auto& row : rows)
    for (const double log : row) highest = std::max(highest, log);
  if (!std::isfinite(highest)) return false;
  for (auto& row : rows)
    for (double& p : row) p = std::exp(p - highest);
  scale(rows, 1 / sum_of(rows));
  return true;
}

void scale(JointRows& rows, double by) {
  for (auto& row : rows)
    for (double& p : row) p *= by;
}

double take_away(JointRows& rows, const JointRows& q) {
  double left = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t x = 0; x < rows[i].size(); ++x) {
      if (!q[i].empty()) rows[i][x] = std::max(rows[i][x] - q[i][x], 0.0);
      left += rows[i][x];
    }
  return left;
}

std::pair<std::size_t, std::int32_t> draw_joint(const JointRows& weights, double u) {
  double at = u * sum_of(weights);
  std::pair<std::size_t, std::int32_t> last{0, -1};
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::size_t x = 0; x < weights[i].size(); ++x) {
      if (weights[i][x] <= 0) continue;
      last = {i, static_cast<std::int32_t>(x)};
      if (at < weights[i][x]) return last;
      at -= weights[i][x];
    }
  return last;
}

std::vector<double> chances_to_pass(const JointRows& p, const JointRows& q, std::size_t count) {
  std::vector<double> chances;
  JointRows cur = p;
  for (std::size_t i = 0; i < count; ++i) {
    double both = 0;
    for (std::size_t k = 0; k < cur.size(); ++k)
      for (std::size_t x = 0; x < cur[k].size() && !q[k].empty(); ++x)
        both += std::min(cur[k][x], q[k][x]);
    chances.push_back(both);
    const double left = take_away(cur, q);
    if (left > 0) scale(cur, 1 / left);
  }
  return chances;
}

}  // namespace triescope
