#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "viz/canvas/dash.h"

namespace test_dash {

using namespace triescope::viz;

TEST_CASE("dash: dashes cover their share of a line, around corners, and never leave it") {
  const std::vector<Point> corner = {{0, 0}, {70, 0}, {70, 70}};
  float drawn = 0;
  for_each_dash(corner, {4, 3}, [&](Point a, Point b) {
    drawn += std::hypot(b.x - a.x, b.y - a.y);
    CHECK((a.y == doctest::Approx(0) || a.x == doctest::Approx(70)));
    CHECK(std::hypot(b.x - a.x, b.y - a.y) <= 4.001f);
  });
  CHECK(drawn == doctest::Approx(140.0 * 4 / 7));
}

TEST_CASE("dash: a very long dashed line makes a bounded number of pieces") {
  int pieces = 0;
  for_each_dash(std::vector<Point>{{0, 0}, {1e7f, 0}}, {1, 1}, [&](Point, Point) { ++pieces; });
  CHECK(pieces <= 4200);
  CHECK(pieces > 100);
}

TEST_CASE("dash: a flattened curve begins and ends where the curve does") {
  std::array<Point, kBezierSegments + 1> points;
  flatten_bezier({1, 2}, {5, 2}, {6, 9}, {10, 9}, points);
  CHECK(points.front().x == doctest::Approx(1));
  CHECK(points.back().y == doctest::Approx(9));
}

}  // namespace test_dash
