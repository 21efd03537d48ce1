#include <doctest/doctest.h>

#include "viz/layouts/trie_view.h"
#include "viz/layouts/zoom.h"

namespace test_zoom {

using namespace triescope::viz;

TEST_CASE("zoom: notches and keys multiply, and without either the factor is exactly 1") {
  CHECK(zoom_factor(0, false, false) == 1.0);
  CHECK(zoom_factor(1, false, false) == doctest::Approx(1.15));
  CHECK(zoom_factor(-2, false, false) == doctest::Approx(1 / (1.15 * 1.15)));
  CHECK(zoom_factor(0, true, false) == 1.25);
  CHECK(zoom_factor(0, false, true) == 0.8);
  CHECK(zoom_factor(0, true, true) == 1.0);  // the keys undo each other
  CHECK(zoom_factor(1, true, false, {2, 3, 5}) == 6.0);
  CHECK(zoom_factor(0, false, true, {2, 3, 5}) == 5.0);
}

TEST_CASE("zoom: what fits cannot be scrolled, what does not stops at its ends") {
  CHECK(scroll_limit(100, 100) == 0);
  CHECK(scroll_limit(99, 100) == 0);
  CHECK(scroll_limit(130, 100) == 30);
  CHECK(scroll_within(-5, 130, 100) == 0);
  CHECK(scroll_within(12, 130, 100) == 12);
  CHECK(scroll_within(31, 130, 100) == 30);
  CHECK(scroll_within(7, 80, 100) == 0);
}

TEST_CASE("zoom: a picture is enlarged as far as it fits, in eighths, up to twice its size") {
  CHECK(enlarged({1000, 1000}, {1000, 1000}) == 1.0f);
  CHECK(enlarged({1124, 9000}, {1000, 1000}) == 1.0f);
  CHECK(enlarged({1125, 9000}, {1000, 1000}) == 1.125f);
  CHECK(enlarged({9000, 1300}, {1000, 1000}) == 1.25f);
  CHECK(enlarged({9000, 9000}, {1000, 1000}) == 2.0f);
  CHECK(enlarged({9000, 9000}, {1000, 1000}, 3) == 3.0f);
  CHECK(enlarged({500, 9000}, {1000, 1000}) == 1.0f);
  CHECK(enlarged({500, 500}, {0, 0}) == 2.0f);
}

TEST_CASE(
    "zoom: a maximised panel's letters follow from its area alone, never smaller than elsewhere") {
  CHECK(maximised({1280, 600}, 14) == 1.375f);
  CHECK(maximised({2560, 1200}, 28) == 1.375f);  // the same window at scale 2
  CHECK(maximised({1920, 960}, 14) == 1.5f);
  CHECK(maximised({600, 300}, 14) == 1.0f);
}

TEST_CASE("zoom: the content under the pointer stays under the pointer") {
  // The pointer is 40 px into the window, 60 px into the content: 120 px when doubled.
  CHECK(scroll_about(20, 40, 2) == 80);
  CHECK(scroll_about(80, 40, 0.5f) == 20);
  CHECK(scroll_about(20, 0, 3) == 60);
  CHECK(scroll_about(20, 40, 1) == 20);
}

TEST_CASE("zoom: the value under the pointer keeps its place on an axis") {
  // 14 is at a quarter of [10, 26), and of [12, 20) too.
  CHECK(low_about(10, 14, 0.5) == 12);
  CHECK(low_about(12, 14, 2) == 10);
  CHECK(low_about(10, 10, 0.25) == 10);
}

TEST_CASE(
    "zoom: an axis stays within its values, and one that shows them all begins at the first") {
  CHECK(low_within(3, 4, 5, 25) == 5);
  CHECK(low_within(7, 4, 5, 25) == 7);
  CHECK(low_within(22, 4, 5, 25) == 21);
  CHECK(low_within(9, 20, 5, 25) == 5);
  CHECK(low_within(9, 50, 5, 25) == 5);
}

TEST_CASE("trie view: zooming keeps the point under the pointer, up to the limits") {
  TrieView view;
  view.place({0, 0, 400, 300}, 200, 4, 30, 100, 1, 10);
  view.zoom_at({50, 60}, 1);  // from here on where the user put it
  CHECK(view.mode == TrieView::Mode::kFree);
  const Point before = view.origin;
  view.zoom_at({50, 60}, 2);
  CHECK(view.zoom == 2);
  CHECK(view.origin.x == 50 - (50 - before.x) * 2);
  CHECK(view.origin.y == 60 - (60 - before.y) * 2);
  view.zoom_at({50, 60}, 100);
  CHECK(view.zoom == TrieView::kMaxZoom);
  view.zoom_at({50, 60}, 1e-9f);
  CHECK(view.zoom == TrieView::kMinZoom);
}

TEST_CASE("trie view: rows that are held apart keep the row under the pointer") {
  TrieView view;
  view.min_pitch = 12;
  view.place({0, 0, 400, 300}, 200, 4, 10, 100, 1, 10);  // rows of 12 px where zoom says 10
  CHECK(view.drawn_pitch == 12);
  view.zoom_at({0, 60}, 1);
  const Point before = view.origin;
  view.zoom_at({0, 60}, 1.8f);  // 18 px
  CHECK(view.origin.y == doctest::Approx(60 - (60 - before.y) * 1.5f));
}

TEST_CASE("trie view: what fits is shown from the left, in the middle of the height") {
  TrieView view;
  view.place({0, 0, 400, 300}, 200, 4, 30, 180, 1, 10);
  CHECK(view.drawn.x == 10);
  CHECK(view.drawn.y == (300 - 4 * 30) / 2.0f);
  CHECK(view.drawn_zoom == 1);
  CHECK(view.drawn_pitch == 30);
  // A tree exactly as wide as the room begins at the left too.
  view.place({0, 0, 220, 300}, 200, 4, 30, 180, 1, 10);
  CHECK(view.drawn.x == 10);
}

TEST_CASE(
    "trie view: of what does not fit the growing end is shown, as far as there is something") {
  TrieView view;
  view.place({0, 0, 400, 300}, 1000, 40, 30, 700, 10, 10);
  CHECK(view.drawn.x == 400 - 10 - 700);
  CHECK(view.drawn.y == 150 - 300);
  view.place({0, 0, 400, 300}, 1000, 40, 30, 1000, 40, 10);
  CHECK(view.drawn.x == 400 - 10 - 1000);
  CHECK(view.drawn.y == 300 - 10 - 1200);  // not beyond the last row
  view.place({0, 0, 400, 300}, 1000, 40, 30, 5, 0, 10);
  CHECK(view.drawn.x == 10);  // not before the first column
  CHECK(view.drawn.y == 10);
}

TEST_CASE("trie view: F shows everything, F again follows at the readable size") {
  TrieView view;
  view.fit();
  CHECK(view.mode == TrieView::Mode::kFit);
  view.place({0, 0, 420, 320}, 800, 10, 30, 700, 5, 10);
  CHECK(view.drawn_zoom == 0.5f);  // by the width: 400 of 800
  CHECK(view.drawn_pitch == 15);
  CHECK(view.min_pitch == 9);
  view.place({0, 0, 420, 320}, 10, 1, 30, 5, 0, 10);
  CHECK(view.drawn_zoom == 1.25f);  // small trees do not become huge
  view.place({0, 0, 420, 320}, 100, 100, 30, 50, 50, 10);
  CHECK(view.drawn_zoom == doctest::Approx(0.1));  // by the height: 300 of 3000
  CHECK(view.min_pitch == 3);
  view.zoom = 3;
  view.fit();
  CHECK(view.mode == TrieView::Mode::kFollow);
  CHECK(view.zoom == 1);
  CHECK(view.min_pitch == 0);
}

TEST_CASE("trie view: a move begins where the picture was drawn") {
  TrieView view;
  view.place({0, 0, 400, 300}, 1000, 40, 30, 700, 10, 10);
  const Point drawn = view.drawn;
  view.move(7, -5);
  CHECK(view.mode == TrieView::Mode::kFree);
  CHECK(view.origin.x == drawn.x + 7);
  CHECK(view.origin.y == drawn.y - 5);
  view.place({0, 0, 400, 300}, 1000, 40, 30, 700, 10, 10);
  CHECK(view.drawn.x == drawn.x + 7);
}

}  // namespace test_zoom
