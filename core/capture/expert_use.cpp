#include "core/capture/expert_use.h"

#include <cmath>
#include <map>
#include <set>

namespace triescope::capture {

ExpertStep expert_step(std::span<const ExpertRow> rows, std::int32_t step) {
  ExpertStep result{.step = step};
  std::map<std::int32_t, std::set<std::int32_t>> read;  // by layer
  std::set<std::int32_t> nodes;
  for (const ExpertRow& row : rows) {
    nodes.insert(row.node);
    read[row.layer].insert(row.experts.begin(), row.experts.end());
    if (row.node == rows.front().node) result.alone += std::ssize(row.experts);
  }
  result.rows = static_cast<std::int32_t>(nodes.size());
  result.layers = static_cast<std::int32_t>(read.size());
  for (const auto& [layer, experts] : read) result.read += std::ssize(experts);
  return result;
}

double bytes_read(const ExpertStep& step, const MixtureSize& size) {
  if (size.expert_bytes == 0) return 0;
  return bytes_alone(step, size) + static_cast<double>(step.read - step.alone) * size.expert_bytes;
}

double bytes_alone(const ExpertStep& step, const MixtureSize& size) {
  if (size.expert_bytes == 0) return 0;
  const auto usual = static_cast<double>(step.layers) * size.used;
  return size.row_bytes + (static_cast<double>(step.alone) - usual) * size.expert_bytes;
}

double experts_by_chance(const MixtureSize& size, std::int32_t rows) {
  if (size.experts == 0) return 0;
  return size.experts * (1 - std::pow(1 - static_cast<double>(size.used) / size.experts, rows));
}

}  // namespace triescope::capture
