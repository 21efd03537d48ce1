// The recorder's own figures as curves over the steps, in the timeline. Each curve is scaled from
// its least to its greatest value, which its legend entry gives.
#pragma once

#include <vector>

#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/query/metrics.h"

namespace triescope::viz {

// The curves of a capture, built once per state of the capture.
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
// Each entry gives the value of the step shown.
std::vector<LegendEntry> metric_legend(const std::vector<MetricCurve>& curves, const Scene& scene);
// Draws a point in the middle of each step on `x`; points behind the cursor are pale.
void draw_metric_curves(Canvas& canvas, Rect plot, const AxisScale& x,
                        const std::vector<MetricCurve>& curves, const Scene& scene);

}  // namespace triescope::viz
