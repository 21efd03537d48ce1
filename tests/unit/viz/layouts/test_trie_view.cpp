// A steady view: it moves only where the growing end would be out of sight.
#include <doctest/doctest.h>

#include "viz/layouts/trie_view.h"

namespace test_trie_view {

using namespace triescope::viz;

namespace {

constexpr Rect kBody{50, 70, 1000, 400};  // its place on the canvas does not matter
constexpr float kPitch = 40, kMargin = 20;

// The cells of a tree's growing part: x from `x` to `end` in px, rows from `row` to `last`.
Rect cells(float x, float end, float row, float last) {
  return {x, row * kPitch, end - x, (last + 1 - row) * kPitch};
}
void place(TrieView& view, float width, float rows, float x, float end, float row, float last,
           float whole = 0) {
  view.place_steady(kBody, width, rows, kPitch,
                    {cells(x, end, row, last), cells(x, x + 1, row, row)}, kMargin, whole);
}

}  // namespace

TEST_CASE("steady view: a tree begins at the top left and stays there while its end is in sight") {
  TrieView view;
  for (float end = 40; end <= 960; end += 40) {
    place(view, end + 100, 3, end - 40, end, 0, 2);
    CHECK(view.drawn.x == kMargin);
    CHECK(view.drawn.y == kMargin);
    CHECK(view.drawn_zoom == 1);
    CHECK(view.drawn_pitch == kPitch);
  }
}

TEST_CASE("steady view: it moves once where the end leaves it, and then stays again") {
  TrieView view;
  place(view, 900, 3, 800, 960, 0, 0);
  REQUIRE(view.drawn.x == kMargin);
  place(view, 1000, 3, 840, 961, 0, 0);  // 961 + 20 > 1000 - 20
  CHECK(view.drawn.x == 700 - 961);      // the end at seven tenths of the room
  for (float end = 970; end <= 961 + 280; end += 10) {
    place(view, end + 50, 3, end - 100, end, 0, 0);
    CHECK(view.drawn.x == 700 - 961);
  }
  place(view, 3000, 3, 2250, 2350, 0, 0);
  CHECK(view.drawn.x == 700 - 2350);
  // Going back until the growing part begins out of sight on the left moves the view, again in one
  // go.
  place(view, 1500, 3, 1400, 1500, 0, 0);
  CHECK(view.drawn.x == 700 - 1500);
  place(view, 100, 3, 0, 40, 0, 0);
  CHECK(view.drawn.x == kMargin);
}

TEST_CASE("steady view: what is longer than the room is shown from its beginning") {
  TrieView view;
  place(view, 3000, 1, 500, 2500, 0, 0);
  CHECK(view.drawn.x == kMargin - 500);
  place(view, 3000, 1, 500, 2500, 0, 0);
  CHECK(view.drawn.x == kMargin - 500);
}

TEST_CASE("steady view: where there is no room for all, what goes first is in sight to its end") {
  TrieView view;
  const auto place_first = [&](float first_begin, float first_end, float first_row,
                               float last_row) {
    view.place_steady(kBody, 4000, 30, kPitch,
                      {cells(500, 2500, 2, 20), cells(first_begin, first_end, first_row, last_row)},
                      kMargin, 0);
  };
  place_first(500, 1400, 2, 8);  // it fits, and begins at the left
  CHECK(view.drawn.x == kMargin - 500);
  CHECK(view.drawn.y == kMargin - 2 * kPitch);
  place_first(500, 1800, 14,
              16);  // it does not fit: its right end and its last row are in sight
  CHECK(view.drawn.x == 1000 - kMargin - 1800);
  CHECK(view.drawn.y == 400 - kMargin - 17 * kPitch);
  place_first(1000, 1500, 12, 13);  // in sight already: nothing moves
  CHECK(view.drawn.x == 1000 - kMargin - 1800);
  CHECK(view.drawn.y == 400 - kMargin - 17 * kPitch);
}

TEST_CASE("steady view: following again is as if nobody had moved it") {
  TrieView view, fresh;
  place(view, 3000, 3, 2250, 2350, 0, 0);
  view.zoom_at({100, 100}, 0.2f);
  view.follow();
  place(view, 3000, 3, 1250, 1350, 0, 0);
  place(fresh, 3000, 3, 1250, 1350, 0, 0);
  CHECK(view.drawn.x == fresh.drawn.x);
  CHECK(view.drawn_zoom == 1);
}

TEST_CASE("steady view: rows likewise, with the lowest at three quarters of the height") {
  TrieView view;
  place(view, 100, 8, 0, 40, 0, 8);  // 9 rows are 360 px, as high as the room
  CHECK(view.drawn.y == kMargin);
  place(view, 100, 12, 0, 40, 8, 10);
  CHECK(view.drawn.y == 300 - 11 * kPitch);
  place(view, 100, 12, 0, 40, 5, 9);
  CHECK(view.drawn.y == 300 - 11 * kPitch);
  place(view, 100, 12, 0, 40, 0, 0);
  CHECK(view.drawn.y == kMargin);
}

TEST_CASE("steady view: a room of another size, or another zoom, begins at the top left again") {
  TrieView view;
  place(view, 2000, 1, 1200, 1300, 0, 0);
  REQUIRE(view.drawn.x == 700 - 1300);
  place(view, 2000, 1, 740, 840, 0, 0);  // in sight: stays
  REQUIRE(view.drawn.x == 700 - 1300);
  const TrieView::Sight sight{cells(740, 840, 0, 0), cells(740, 741, 0, 0)};
  view.place_steady({0, 0, 1001, 400}, 2000, 1, kPitch, sight, kMargin, 0);
  CHECK(view.drawn.x == kMargin);
  view.zoom = 2;  // the end at 1680 of 1001
  view.place_steady({0, 0, 1001, 400}, 2000, 1, kPitch, sight, kMargin, 0);
  CHECK(view.drawn.x == doctest::Approx(1001 * 0.7f - 1680));
  CHECK(view.drawn_pitch == 2 * kPitch);
}

TEST_CASE("steady view: where the user put it, and fitted, it is as any other") {
  TrieView view, plain;
  for (TrieView* one : {&view, &plain}) {
    one->mode = TrieView::Mode::kFree;
    one->origin = {-300, 12};
    one->zoom = 0.5f;
  }
  place(view, 2000, 3, 0, 40, 0, 0);
  plain.place(kBody, 2000, 3, kPitch, 40, 0, kMargin);
  CHECK(view.drawn.x == plain.drawn.x);
  CHECK(view.drawn.x == -300);
  CHECK(view.drawn.y == 12);
  CHECK(view.drawn_zoom == 0.5f);
  view.mode = TrieView::Mode::kFit;
  place(view, 1920, 3, 0, 40, 0, 0);
  CHECK(view.drawn_zoom == 0.5f);
  CHECK(view.drawn.x == kMargin);
}

TEST_CASE("steady view: no more room is left to grow than the whole tree will take") {
  TrieView view;
  place(view, 1000, 1, 900, 1000, 0, 0, 1150);
  CHECK(view.drawn.x == 1000 - kMargin - 1150);
  for (float end = 1010; end <= 1150; end += 10) {
    place(view, end, 1, end - 100, end, 0, 0, 1150);
    CHECK(view.drawn.x == 1000 - kMargin - 1150);
  }
  TrieView longer;  // far from its end: room to grow as ever
  place(longer, 1000, 1, 900, 1000, 0, 0, 5000);
  CHECK(longer.drawn.x == 700 - 1000);
  TrieView shorter;  // it will fit: there is nothing to move
  place(shorter, 500, 1, 400, 500, 0, 0, 960);
  CHECK(shorter.drawn.x == kMargin);
}

}  // namespace test_trie_view
