// The recorder's own figures as curves over the steps, in the timeline. Each has a scale of its own, from
// its least to its greatest value, which its entry of the legend says.
#pragma once

#include <vector>

#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/query/metrics.h"

namespace triescope::viz {

// Made once for what a capture holds.
class MetricCurves {
 public:
  const std::vector<MetricCurve>& of(const capture::Capture& capture);

 private:
  const capture::Capture* capture_ = nullptr;
  std::size_t rows_ = 0;
  std::vector<MetricCurve> curves_;
};

// "2.31", "2.31, the mean of 4".
std::string metric_text(const MetricPoint& point);
// With the value of the step that is shown.
std::vector<LegendEntry> metric_legend(const std::vector<MetricCurve>& curves, const Scene& scene);
// In `plot`, a point in the middle of each step on `x`; pale behind the cursor.
void draw_metric_curves(Canvas& canvas, Rect plot, const AxisScale& x,
                        const std::vector<MetricCurve>& curves, const Scene& scene);

}  // namespace triescope::viz
