#include "viz/query/draft_figures.h"

#include <algorithm>
#include <cmath>

#include "core/capture/metric_names.h"
#include "core/capture/row_types.h"

namespace triescope::viz {
namespace {

std::int64_t figure(DraftFigures figures, std::string_view name, std::int32_t node,
                    std::int64_t otherwise) {
  for (const capture::MetricRow& row : figures)
    if (row.name == name && row.node == node) return whole_figure(row.value, otherwise);
  return otherwise;
}

}  // namespace

DraftFigures draft_figures(const capture::Capture& capture, std::int32_t step) {
  if (step < 0) return {};
  const auto rows = capture.metrics();
  const capture::Tick tick = capture::make_tick(step, capture::Phase::kDraft);
  return {std::ranges::lower_bound(rows, tick, {}, &capture::MetricRow::tick),
          std::ranges::upper_bound(rows, tick, {}, &capture::MetricRow::tick)};
}

std::int64_t whole_figure(double value, std::int64_t otherwise) {
  constexpr double kMost = 9e15;  // up to which a double counts by ones
  return std::isfinite(value) && value >= 0 && value < kMost ? static_cast<std::int64_t>(value)
                                                             : otherwise;
}

FoundMatch found_match(DraftFigures figures, std::int32_t node) {
  return {.tokens = static_cast<std::int32_t>(
              std::min(figure(figures, capture::kMatchedTokens, node, 0), capture::kMaxToken)),
          .place = figure(figures, capture::kFoundAt, node, -1),
          .count = figure(figures, capture::kPlaces, node, 0)};
}

std::unordered_map<std::int32_t, std::int64_t> growth_order(DraftFigures figures) {
  std::unordered_map<std::int32_t, std::int64_t> order;
  for (const capture::MetricRow& row : figures)
    if (row.name == capture::kGrownAs && row.node > 0)
      if (const std::int64_t number = whole_figure(row.value, 0); number > 0)
        order[row.node] = number;
  return order;
}

}  // namespace triescope::viz
