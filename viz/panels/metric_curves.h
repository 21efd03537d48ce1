// The recorder's own figures as curves over the steps, in the timeline. Each has a scale of its own, from
// its least to its greatest value in the run; its entry of the legend says how far it went up to the cursor.
#pragma once

#include <vector>

#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/query/metrics.h"

namespace triescope::viz {

// It makes the curves once for each state of a capture and each cursor.
class MetricCurves {
 public:
  // The curves of the rows with tick < end.
  const std::vector<MetricCurve>& of(const capture::Capture& capture,
                                     capture::Tick end = INT64_MAX);

 private:
  const capture::Capture* capture_ = nullptr;
  std::size_t rows_ = 0;
  capture::Tick end_ = 0;
  std::vector<MetricCurve> curves_;
};

// The value of a point: "2.31", "2.31, the mean of 4".
std::string metric_text(const MetricPoint& point);
// Each entry has the value of the step that is shown, and how far the curve went. `seen`: the curves of the rows
// before the cursor.
std::vector<LegendEntry> metric_legend(const std::vector<MetricCurve>& curves,
                                       const std::vector<MetricCurve>& seen, const Scene& scene);
// Draws a point in the middle of each step on `x`, in `plot`. Points behind the cursor are pale.
void draw_metric_curves(Canvas& canvas, Rect plot, const AxisScale& x,
                        const std::vector<MetricCurve>& curves,
                        const std::vector<MetricCurve>& seen, const Scene& scene);

}  // namespace triescope::viz
