#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "app/window/workspace/lecture_layout.h"
#include "viz/panels/panel.h"

namespace triescope::app::test_lecture_layout {
namespace {

bool same(viz::Rect a, viz::Rect b) { return a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h; }
bool apart(viz::Rect a, viz::Rect b) {
  return a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
}

TEST_CASE("lecture: the smallest letters have 24 px at 1920 x 1080, and grow with the window") {
  CHECK(lecture_em({1920, 1080}, 1) == 33);
  CHECK(lecture_em({1920, 1080}, 1) * 0.74f >= 24);
  CHECK(narration_em(33) == 29);
  CHECK(narration_em(33) * 0.86f >= 24);
  CHECK(lecture_em({1280, 720}, 1) == 22);
  CHECK(lecture_em({3840, 2160}, 1) == 66);
  CHECK(lecture_em({1920, 1200}, 1) == 33);  // the narrower side counts
  CHECK(lecture_em({1600, 2000}, 1) == 28);
  CHECK(lecture_em({1920, 1080}, 1.5f) == 50);
  CHECK(lecture_em({1920, 1080}, 0.5f) == 33);  // never smaller
  CHECK(lecture_em({300, 200}, 1) == 14);
  CHECK(narration_em(14) == 14);
}

TEST_CASE("lecture: panels and narration fill the window, and do not overlap") {
  for (const viz::Point window :
       {viz::Point{1920, 1080}, {1280, 720}, {1024, 768}, {900, 1400}, {640, 400}}) {
    CAPTURE(window.x);
    const float em = lecture_em(window, 1);
    const LecturePlaces one = lecture_places(window, em, 1), two = lecture_places(window, em, 2);
    REQUIRE(one.panels.size() == 1);
    REQUIRE(two.panels.size() == 2);
    CHECK(same(one.narration, two.narration));
    for (const viz::Rect place : {one.panels[0], two.panels[0], two.panels[1], one.narration}) {
      CHECK(place.x >= 0);
      CHECK(place.y >= 0);
      CHECK(place.right() <= window.x);
      CHECK(place.bottom() <= window.y);
      CHECK(place.w > em * 8);
      CHECK(place.h > em * 3);
    }
    CHECK(apart(two.panels[0], two.panels[1]));
    CHECK(apart(two.panels[0], two.narration));
    CHECK(apart(two.panels[1], two.narration));
    CHECK(apart(one.panels[0], one.narration));
    const float covered = two.panels[0].w * two.panels[0].h + two.panels[1].w * two.panels[1].h +
                          two.narration.w * two.narration.h;
    CHECK(covered > window.x * window.y * 0.85f);
  }
}

TEST_CASE("lecture: a lesson has a column of its own, and the rest keeps its order") {
  for (const viz::Point window : {viz::Point{1920, 1080}, {1280, 720}, {1024, 768}}) {
    CAPTURE(window.x);
    const float em = lecture_em(window, 1);
    CHECK(lecture_places(window, em, 2).lesson.w == 0);
    const LecturePlaces one = lecture_places(window, em, 1, /*lesson=*/true),
                        two = lecture_places(window, em, 2, /*lesson=*/true);
    CHECK(same(one.lesson, two.lesson));
    CHECK(same(one.narration, two.narration));
    CHECK(two.lesson.w == std::round(window.x * 0.34f));
    CHECK(two.lesson.h == window.y - 2 * std::round(em * 0.5f));
    CHECK(two.lesson.right() == window.x - std::round(em * 0.5f));
    for (const viz::Rect place : {one.panels[0], two.panels[0], two.panels[1], two.narration}) {
      CHECK(apart(place, two.lesson));
      CHECK(place.w > em * 8);
      CHECK(place.h > em * 3);
    }
    CHECK(two.narration.right() == two.lesson.x - std::round(em * 0.5f));
    CHECK(apart(two.panels[0], two.panels[1]));
    CHECK(apart(two.panels[1], two.narration));
  }
}

TEST_CASE(
    "lecture: two panels stand beside each other in a wide window, else one above the other") {
  const LecturePlaces wide = lecture_places({1920, 1080}, 33, 2);
  CHECK(wide.panels[0].y == wide.panels[1].y);
  CHECK(wide.panels[0].w > wide.panels[1].w);
  const LecturePlaces tall = lecture_places({900, 1400}, 20, 2);
  CHECK(tall.panels[0].x == tall.panels[1].x);
  CHECK(tall.panels[0].w == tall.panels[1].w);
  CHECK(tall.panels[0].bottom() < tall.panels[1].y);
}

TEST_CASE("lecture: two runs have columns of equal width, in the places of one") {
  for (const viz::Point window : {viz::Point{1920, 1080}, {1280, 720}, {2560, 1440}})
    for (const bool lesson : {false, true}) {
      CAPTURE(window.x);
      const float em = lecture_em(window, 1);
      const LecturePlaces one = lecture_places(window, em, 1, lesson);
      const auto [left, right] = lecture_pair(window, em, lesson);
      CHECK(same(left.lesson, one.lesson));
      CHECK(left.narration.x == one.narration.x);
      CHECK(right.narration.right() == one.narration.right());
      CHECK(std::abs(left.narration.w - right.narration.w) <= 1);
      for (const auto& [a, b] : {std::pair{left.panels[0], right.panels[0]},
                                 std::pair{left.narration, right.narration}}) {
        CHECK(apart(a, b));
        CHECK(a.y == b.y);
        CHECK(a.h == b.h);
      }
      CHECK(left.panels[0].w == left.narration.w);
      CHECK(apart(right.panels[0], right.narration));
    }
}

TEST_CASE("lecture: nine panels have digits, and every arrangement is of known ones") {
  CHECK(lecture_panels().size() == 9);
  CHECK(std::set<std::string>(lecture_panels().begin(), lecture_panels().end()).size() == 9);
  for (const std::string& name : lecture_panels())
    CHECK(viz::make_panel(name)->info().name == name);
  const auto run = [](const char* name) {
    return capture::Capture::open(std::string(TRIESCOPE_TEST_SOURCE_DIR) + "/assets/lessons/" +
                                  name);
  };
  using Names = std::vector<std::string>;
  using All = std::vector<Names>;
  CHECK(lecture_arrangements(*run("beam.tscap")) ==
        All{{"trie", "text"}, {"trie", "verdict"}, {"trie", "kv"}, {"trie", "memory"}, {"trie"}});
  CHECK(lecture_arrangements(*run("tree.tscap")) == All{{"trie", "text"},
                                                        {"trie", "verdict"},
                                                        {"trie", "mask"},
                                                        {"trie", "kv"},
                                                        {"trie", "drafts"},
                                                        {"trie"}});
  CHECK(lecture_arrangements(*run("sample.tscap")) ==
        All{{"verdict", "text"}, {"candidates", "text"}, {"trie", "text"}, {"text"}});
  CHECK(lecture_arrangements(*run("greedy.tscap")).front() == Names{"verdict", "text"});
}

}  // namespace
}  // namespace triescope::app::test_lecture_layout
