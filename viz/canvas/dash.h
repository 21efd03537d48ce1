// Dashes and dots of a polyline, for targets that only draw solid lines. Pure geometry.
#pragma once

#include <functional>
#include <span>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// Lengths of a style's pattern at a line width, in px: drawn, then left out. {0, 0} = solid.
struct DashPattern {
  float on = 0, off = 0;
};
DashPattern dash_pattern(LineStyle style, float width);

// Calls `segment(a, b)` for every drawn piece; the pattern continues around corners. A line so long
// that it would make more than 4,096 pieces gets a coarser pattern instead.
void for_each_dash(std::span<const Point> points, DashPattern pattern,
                   const std::function<void(Point, Point)>& segment);

// Turns a cubic curve into a polyline with an error of at most 0.25 px, for code that needs its
// points.
inline constexpr int kBezierSegments = 24;
void flatten_bezier(Point p0, Point c0, Point c1, Point p1,
                    std::span<Point, kBezierSegments + 1> out);

}  // namespace triescope::viz
