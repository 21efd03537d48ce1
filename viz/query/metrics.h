// The figures that a recorder defines itself: a curve a name over the steps, and what was said of one
// node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// The rows of one name in one step.
struct MetricPoint {
  std::int32_t step = 0;
  double mean = 0;
  std::int32_t count = 0;
};

struct MetricCurve {
  std::string name;
  std::vector<MetricPoint> points;  // by step; steps without a number are left out
  double low = 0, high = 0;         // of the points

  const MetricPoint* at(std::int32_t step) const;  // nullptr = none
};

// Curves of the rows with tick < end, in the order in which their names first come. Numbers that are not known count for
// nothing, and names that stand for something else are no curve (core/capture/metric_names.h).
std::vector<MetricCurve> metric_curves(const capture::Capture& capture,
                                       capture::Tick end = INT64_MAX);
// The newest row of each name about the node, with tick < cursor; without the lists in which it stands.
std::vector<capture::MetricRow> metrics_of_node(const capture::Capture& capture, std::int32_t node,
                                                capture::Tick cursor);

}  // namespace triescope::viz
