#include "viz/canvas/dash.h"

#include <algorithm>
#include <cmath>

namespace triescope::viz {

DashPattern dash_pattern(LineStyle style, float width) {
  const float unit = std::max(width, 1.0f);
  switch (style) {
    case LineStyle::kDashed:
      return {4 * unit, 3 * unit};
    case LineStyle::kDotted:
      return {1.2f * unit, 2.2f * unit};
    case LineStyle::kSolid:
      break;
  }
  return {};
}

void for_each_dash(std::span<const Point> points, DashPattern pattern,
                   const std::function<void(Point, Point)>& segment) {
  if (points.size() < 2) return;
  if (pattern.on <= 0) {
    for (std::size_t i = 1; i < points.size(); ++i) segment(points[i - 1], points[i]);
    return;
  }
  float total = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    total += std::hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
  const float coarser = std::max(1.0f, total / (pattern.on + pattern.off) / 4096.0f);
  pattern.on *= coarser;
  pattern.off *= coarser;
  float left = pattern.on;
  bool draws = true;
  for (std::size_t i = 1; i < points.size(); ++i) {
    Point a = points[i - 1];
    const Point b = points[i];
    float length = std::hypot(b.x - a.x, b.y - a.y);
    while (length > 1e-4f) {
      const float part = std::min(left, length);
      const Point to{a.x + (b.x - a.x) * part / length, a.y + (b.y - a.y) * part / length};
      if (draws) segment(a, to);
      a = to;
      length -= part;
      left -= part;
      if (left <= 1e-4f) {
        draws = !draws;
        left = draws ? pattern.on : pattern.off;
      }
    }
  }
}

void flatten_bezier(Point p0, Point c0, Point c1, Point p1,
                    std::span<Point, kBezierSegments + 1> out) {
  for (int i = 0; i <= kBezierSegments; ++i) {
    const float t = static_cast<float>(i) / kBezierSegments, s = 1 - t;
    const float a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
    out[static_cast<std::size_t>(i)] = {a * p0.x + b * c0.x + c * c1.x + d * p1.x,
                                        a * p0.y + b * c0.y + c * c1.y + d * p1.y};
  }
}

}  // namespace triescope::viz
