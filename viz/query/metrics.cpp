#include "viz/query/metrics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/capture/metric_names.h"

namespace triescope::viz {

const MetricPoint* MetricCurve::at(std::int32_t step) const {
  const auto found = std::ranges::lower_bound(points, step, {}, &MetricPoint::step);
  return found != points.end() && found->step == step ? &*found : nullptr;
}

std::vector<MetricCurve> metric_curves(const capture::Capture& capture, capture::Tick end) {
  std::vector<MetricCurve> curves;
  std::map<std::string, std::size_t> places;
  for (const capture::MetricRow& row : capture.metrics()) {
    if (row.tick >= end) break;
    if (!std::isfinite(row.value) || !capture::is_curve(row.name)) continue;
    const auto [place, is_new] = places.try_emplace(row.name, curves.size());
    if (is_new) curves.push_back({.name = row.name, .points = {}});
    std::vector<MetricPoint>& points = curves[place->second].points;
    const std::int32_t step = capture::step_of(row.tick);
    if (points.empty() || points.back().step != step) points.push_back({.step = step});
    MetricPoint& point = points.back();
    ++point.count;
    point.mean += (row.value - point.mean) / point.count;
  }
  for (MetricCurve& curve : curves) {
    const auto [low, high] = std::ranges::minmax_element(curve.points, {}, &MetricPoint::mean);
    curve.low = low->mean;
    curve.high = high->mean;
  }
  return curves;
}

std::vector<capture::MetricRow> metrics_of_node(const capture::Capture& capture, std::int32_t node,
                                                capture::Tick cursor) {
  std::vector<capture::MetricRow> rows;
  for (const capture::MetricRow& row : capture.metrics()) {
    if (row.tick >= cursor) break;
    if (row.node != node || node == -1 || row.name.starts_with(capture::kTokenList)) continue;
    const auto same = std::ranges::find(rows, row.name, &capture::MetricRow::name);
    if (same == rows.end())
      rows.push_back(row);
    else
      *same = row;
  }
  return rows;
}

}  // namespace triescope::viz
