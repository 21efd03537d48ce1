#include "viz/panels/metric_curves.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace triescope::viz {
namespace {

constexpr float kUnseenAlpha = 0.3f;  // behind the cursor, where bars are pale too

// The value with four significant digits.
std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

const MetricCurve* named(const std::vector<MetricCurve>& curves, const std::string& name) {
  const auto found = std::ranges::find(curves, name, &MetricCurve::name);
  return found == curves.end() ? nullptr : &*found;
}

LineStyle metric_style(std::size_t curve) {
  static constexpr LineStyle kStyles[] = {LineStyle::kSolid, LineStyle::kDashed,
                                          LineStyle::kDotted};
  return kStyles[curve % 3];
}
Color metric_color(std::size_t curve, const Scene& scene) {
  return scene.theme.metric(static_cast<int>(curve));
}

void draw_curves(Canvas& canvas, Rect plot, const AxisScale& x,
                 const std::vector<MetricCurve>& curves, float alpha, const Scene& scene) {
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const MetricCurve& curve = curves[i];
    const double span = curve.high - curve.low;
    // A curve with one value all along lies in the middle.
    const AxisScale y = span > 0 ? AxisScale{curve.low, curve.high, plot.bottom() - 1, plot.y + 1}
                                 : AxisScale{curve.low - 1, curve.low + 1, plot.bottom(), plot.y};
    const auto at = [&](const MetricPoint& point) {
      return Point{x.px(point.step + 0.5), y.px(point.mean)};
    };
    // Draws the points in sight and one more on either side. Points within one px become the least
    // and the greatest of them.
    auto begin = std::ranges::lower_bound(
        curve.points, static_cast<std::int32_t>(std::floor(x.low)) - 1, {}, &MetricPoint::step);
    std::vector<Point> line;
    float column = -1e9f;
    for (; begin != curve.points.end(); ++begin) {
      const Point point = at(*begin);
      const bool same = std::floor(point.x) == column;
      if (same && line.size() >= 2 && std::floor(line[line.size() - 2].x) == column) {
        Point &a = line[line.size() - 2], &b = line.back();
        if (a.y > b.y) std::swap(a.y, b.y);
        a.y = std::min(a.y, point.y);
        b.y = std::max(b.y, point.y);
      } else {
        line.push_back(point);
      }
      column = std::floor(point.x);
      if (begin->step > x.high) break;
    }
    const Color color = metric_color(i, scene).with_alpha(alpha);
    if (line.size() > 1) canvas.polyline(line, color, 1.6f, metric_style(i));
    const float step_px = x.px(1) - x.px(0);
    if (step_px > scene.em * 0.8f)
      for (const Point point : line) canvas.fill_circle(point, scene.em * 0.2f, color);
    else if (line.size() == 1)
      canvas.fill_circle(line.front(), scene.em * 0.2f, color);
  }
}

}  // namespace

const std::vector<MetricCurve>& MetricCurves::of(const capture::Capture& capture,
                                                 capture::Tick end) {
  const std::size_t rows = capture.metrics().size();
  if (capture_ != &capture || rows_ != rows || end_ != end) {
    curves_ = metric_curves(capture, end);
    capture_ = &capture;
    rows_ = rows;
    end_ = end;
  }
  return curves_;
}

std::string metric_text(const MetricPoint& point) {
  return short_number(point.mean) +
         (point.count > 1 ? ", the mean of " + std::to_string(point.count) : "");
}

std::vector<LegendEntry> metric_legend(const std::vector<MetricCurve>& curves,
                                       const std::vector<MetricCurve>& seen, const Scene& scene) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    std::string label = curves[i].name;
    if (const MetricCurve* const curve = named(seen, curves[i].name)) {
      if (const MetricPoint* const point = curve->at(scene.shown_step()))
        label += " " + metric_text(*point);
      label += " (" + short_number(curve->low) +
               (curve->high > curve->low ? " to " + short_number(curve->high) : "") + ")";
    }
    entries.push_back(
        {std::move(label), metric_color(i, scene), "", metric_style(i), false, curves[i].name});
  }
  return entries;
}

void draw_metric_curves(Canvas& canvas, Rect plot, const AxisScale& x,
                        const std::vector<MetricCurve>& curves,
                        const std::vector<MetricCurve>& seen, const Scene& scene) {
  if (scene.cursor >= scene.capture->end_tick())
    return draw_curves(canvas, plot, x, curves, 1, scene);
  // The shown step's point is the mean of what the cursor has seen of it.
  std::vector<MetricCurve> until_now = curves;
  for (MetricCurve& curve : until_now) {
    const MetricCurve* const own = named(seen, curve.name);
    const MetricPoint* const point = own ? own->at(scene.shown_step()) : nullptr;
    if (point)
      *std::ranges::lower_bound(curve.points, point->step, {}, &MetricPoint::step) = *point;
  }
  const float now = x.px(static_cast<double>(scene.cursor) / capture::kPhaseCount);
  const float split = std::clamp(now, plot.x, plot.right());
  const float dot = scene.em * 0.25f;  // points at the edge are whole
  canvas.push_clip({plot.x, plot.y - dot, split - plot.x, plot.h + 2 * dot});
  draw_curves(canvas, plot, x, until_now, 1, scene);
  canvas.pop_clip();
  canvas.push_clip({split, plot.y - dot, plot.right() - split, plot.h + 2 * dot});
  draw_curves(canvas, plot, x, curves, kUnseenAlpha, scene);
  canvas.pop_clip();
}

}  // namespace triescope::viz
