#include "viz/query/expert_use.h"

#include <algorithm>

#include "core/capture/run_fields.h"

namespace triescope::viz {

MixtureSize mixture_size(const capture::Capture& capture) {
  const capture::RunFields model(capture.run().model_json);
  const auto number = [&](const char* key) { return std::max(0.0, model.number(key, 0)); };
  const auto count = [&](const char* key) {
    return static_cast<std::int32_t>(std::min(number(key), 1e9));
  };
  return {.experts = count("experts"),
          .used = count("experts_used"),
          .row_bytes = number("active_bytes"),
          .expert_bytes = number("expert_bytes")};
}

ExpertStep expert_step(const capture::Capture& capture, std::int32_t step, capture::Tick cursor) {
  const auto rows = capture.experts(step);
  const auto later =
      std::ranges::find_if(rows, [&](const auto& row) { return row.tick >= cursor; });
  return capture::expert_step({rows.begin(), later}, step);
}

std::vector<ExpertStep> expert_steps(const capture::Capture& capture, capture::Tick cursor) {
  std::vector<ExpertStep> steps;
  if (cursor <= 0) return steps;
  const std::int32_t last = std::min(capture::step_of(cursor - 1), capture.last_step());
  for (std::int32_t step = 1; step <= last; ++step)
    if (const ExpertStep one = expert_step(capture, step, cursor); one.layers > 0)
      steps.push_back(one);
  return steps;
}

std::vector<capture::ExpertRow> experts_of(const capture::Capture& capture, std::int32_t node,
                                           capture::Tick cursor) {
  std::vector<capture::ExpertRow> rows;
  if (node < 0 || node >= std::ssize(capture.nodes())) return rows;
  // A node's row is in the step that hung it or in the next one. A search may run a node again later.
  const std::int32_t hung = capture::step_of(capture.nodes()[static_cast<std::size_t>(node)].tick);
  const std::int32_t shown = cursor > 0 ? capture::step_of(cursor - 1) : -1;
  for (const std::int32_t step : {shown, hung + 1, hung}) {
    for (const capture::ExpertRow& row : capture.experts(step))
      if (row.node == node && row.tick < cursor) rows.push_back(row);
    if (!rows.empty()) break;
  }
  return rows;
}

}  // namespace triescope::viz
