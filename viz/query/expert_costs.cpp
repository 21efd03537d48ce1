#include "viz/query/expert_costs.h"

#include <cmath>
#include <limits>
#include <vector>

#include "viz/query/expert_use.h"
#include "viz/query/step_range.h"
#include "viz/query/step_so_far.h"

namespace triescope::viz {

ExpertReads expert_reads(const capture::Capture& capture, capture::Tick cursor, StepRange range) {
  ExpertReads reads;
  const MixtureSize size = mixture_size(capture);
  double layers = 0, alone = 0, steps = 0;
  for (const ExpertStep& step : expert_steps(capture, cursor)) {
    if (!has_finished(step.step, cursor)) break;
    if (!is_within(range, step.step)) continue;
    ExpertReads::Sum& sum = reads.by_rows[step.rows];
    sum.different += step.read_a_layer();
    ++sum.steps;
    layers += step.layers, alone += step.alone_a_layer(), ++steps;
  }
  if (steps == 0) return reads;
  reads.used = alone / steps;
  reads.experts = size.experts;
  reads.of_experts = size.row_bytes > 0 && size.expert_bytes > 0
                         ? reads.used * (layers / steps) * size.expert_bytes / size.row_bytes
                         : std::numeric_limits<double>::quiet_NaN();
  return reads;
}

void add_expert_reads(ExpertReads& sum, const ExpertReads& more) {
  if (sum.by_rows.empty()) {
    sum = more;
    return;
  }
  for (const auto& [rows, one] : more.by_rows) {
    sum.by_rows[rows].different += one.different;
    sum.by_rows[rows].steps += one.steps;
  }
}

std::optional<ForwardCosts> expert_costs(const ExpertReads& reads) {
  if (reads.used <= 0) return std::nullopt;
  const RowCosts row;
  const double share = std::isnan(reads.of_experts) ? kExpertCosts.of_experts : reads.of_experts;
  std::vector<std::pair<double, double>> points = {{1, 1}};
  for (const auto& [rows, sum] : reads.by_rows)
    if (rows > 1)
      points.emplace_back(
          rows, 1 + (rows - 1) * row.cheap_row +
                    share * (sum.different / static_cast<double>(sum.steps) / reads.used - 1));
  if (points.size() < 2) return std::nullopt;
  return ForwardCosts(std::move(points));
}

}  // namespace triescope::viz
