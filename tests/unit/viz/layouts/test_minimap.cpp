#include <doctest/doctest.h>

#include "viz/layouts/minimap.h"

namespace test_minimap {

using namespace triescope::viz;

namespace {

constexpr Rect kWindow{100, 50, 400, 200};

}  // namespace

TEST_CASE("minimap: there is one only while a part is out of sight, and where there is room") {
  CHECK_FALSE(Minimap::fit(kWindow, {400, 200}, {0, 0}, 10).shown());
  CHECK_FALSE(Minimap::fit(kWindow, {400, 200}, {1, -1}, 10).shown());  // a px does not count
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
  // The map is 11 em wide, half an em from the corner at the bottom left.
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
  // Nothing is seen beyond the edges.
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

TEST_CASE("minimap: it lies in the first corner that is free, and nowhere where none is") {
  const Point whole{1100, 300};
  const float right = 500 - 5 - 110, bottom = 250 - 5 - 30;
  const Rect bottom_left{105, bottom, 5, 5}, top_left{150, 60, 400, 1},
      bottom_right{499, 249, 1, 1};
  const auto at = [&](std::vector<Rect> marks, Corner corner = Corner::kBottomLeft) {
    return Minimap::fit(kWindow, whole, {0, 0}, 10, marks, corner).box;
  };
  CHECK(at({}).x == 105);
  CHECK(at({}).y == bottom);
  CHECK(at({bottom_left}).x == 105);
  CHECK(at({bottom_left}).y == 55);
  CHECK(at({bottom_left, top_left}).x == right);
  CHECK(at({bottom_left, top_left}).y == bottom);
  // A mark between the box and the edge of the window is not below the box.
  CHECK(at({bottom_left, top_left, bottom_right}).y == bottom);
  const Rect more{480, 240, 1, 1};
  CHECK(at({bottom_left, top_left, more}).w == 0);
  CHECK(at({bottom_left, {150, 60, 100, 1}, more}).x == right);
  CHECK(at({bottom_left, {150, 60, 100, 1}, more}).y == 55);
}

TEST_CASE(
    "minimap: it stays in its corner while that is free, and whatever lies there while held") {
  const Point whole{1100, 300};
  const Rect top_right{450, 60, 10, 10};
  const auto fit = [&](std::vector<Rect> marks, bool held) {
    return Minimap::fit(kWindow, whole, {0, 0}, 10, marks, Corner::kTopRight, held);
  };
  CHECK(fit({}, false).corner == Corner::kTopRight);
  CHECK(fit({}, false).box.right() == 495);
  CHECK(fit({top_right}, false).corner == Corner::kBottomLeft);
  CHECK(fit({top_right}, true).corner == Corner::kTopRight);
  CHECK(fit({kWindow}, true).shown());
  CHECK_FALSE(fit({kWindow}, false).shown());
  CHECK(fit({kWindow}, false).corner == Corner::kTopRight);  // kept for the time when it comes back
}

}  // namespace test_minimap
