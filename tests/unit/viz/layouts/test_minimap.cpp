#include <doctest/doctest.h>

#include "viz/layouts/minimap.h"

namespace test_minimap {

using namespace triescope::viz;

namespace {

constexpr Rect kWindow{100, 50, 400, 200};

}  // namespace

TEST_CASE("minimap: there is one only while a part is out of sight, and where there is room") {
  CHECK_FALSE(Minimap::fit(kWindow, {400, 200}, {0, 0}, 10).shown());
  CHECK_FALSE(Minimap::fit(kWindow, {400, 200}, {1, -1}, 10).shown());  // a px is not a part
  CHECK(Minimap::fit(kWindow, {400, 200}, {2, 0}, 10).shown());
  CHECK(Minimap::fit(kWindow, {100, 100}, {0, -2}, 10).shown());
  CHECK(Minimap::fit(kWindow, {402, 100}, {0, 0}, 10).shown());
  CHECK(Minimap::fit(kWindow, {100, 202}, {0, 0}, 10).shown());
  CHECK(Minimap::fit({0, 0, 200, 130}, {800, 800}, {0, 0}, 10).shown());
  CHECK_FALSE(Minimap::fit({0, 0, 199, 130}, {800, 800}, {0, 0}, 10).shown());
  CHECK_FALSE(Minimap::fit({0, 0, 200, 129}, {800, 800}, {0, 0}, 10).shown());
  CHECK_FALSE(Minimap::fit(kWindow, {0, 100}, {-9, -9}, 10).shown());
}

TEST_CASE("minimap: it keeps the proportions of the whole within its limits") {
  // 11 em wide, half an em from the corner at the bottom left.
  const Minimap map = Minimap::fit(kWindow, {1100, 300}, {0, 0}, 10);
  CHECK(map.box.x == 105);
  CHECK(map.box.w == 110);
  CHECK(map.box.h == 30);
  CHECK(map.box.bottom() == 245);
  CHECK(Minimap::fit(kWindow, {11000, 30}, {0, 0}, 10).box.h == 15);
  CHECK(Minimap::fit(kWindow, {110, 3000}, {0, 0}, 10).box.h == 50);
  CHECK(Minimap::fit({0, 0, 200, 140}, {1000, 1000}, {0, 0}, 10).box.w == 60);
  CHECK(Minimap::fit({0, 0, 200, 140}, {1000, 1000}, {0, 0}, 10).box.h == 42);
}

TEST_CASE("minimap: the frame on it is what the window shows, and a click brings its place there") {
  const Minimap map = Minimap::fit(kWindow, {1100, 300}, {-550, -60}, 10);
  const Rect seen = map.seen(kWindow, {-550, -60});
  CHECK(seen.x == map.box.x + 55);
  CHECK(seen.w == 40);
  CHECK(seen.y == map.box.y + 6);
  CHECK(seen.h == 20);
  // Beyond the edges nothing is seen.
  const Rect edge = map.seen(kWindow, {300, 0});
  CHECK(edge.x == map.box.x);
  CHECK(edge.w == 10);
  const Point to = map.drawn_for(kWindow, {map.box.x + 55, map.box.y + 15});
  CHECK(to.x == 200 - 550);
  CHECK(to.y == 100 - 150);
  const Rect there = map.seen(kWindow, to);
  CHECK(there.x + there.w / 2 == doctest::Approx(map.box.x + 55));
  CHECK(there.y + there.h / 2 == doctest::Approx(map.box.y + 15));
  // A drag beyond the box stays at its edge.
  CHECK(map.drawn_for(kWindow, {0, 0}).x == 200);
  CHECK(map.drawn_for(kWindow, {9999, 0}).x == 200 - 1100);
}

}  // namespace test_minimap
