// A bar chart of what it is given: bars as high as their means, whiskers, n, CSV.
#include <doctest/doctest.h>

#include "tests/unit/viz/looking.h"
#include "viz/panels/bar_picture.h"

namespace triescope::viz::test_bar_picture {
namespace {

BarChart chart() {
  return {.title = "accepted_per_step, by category and name",
          .groups = {"rag", "story"},
          .series = {"n-gram trie", "prompt lookup"},
          .values = {{BarValue{2, 1.5, 2.5, 5}, BarValue{1, 0.75, 1.25, 5}},
                     {BarValue{0.5, 0.25, 0.75, 5}, {}}}};
}

Scene on_paper() {
  Scene scene;
  scene.theme = light_theme();
  scene.export_mode = true;
  return scene;
}

TEST_CASE("bar picture: each group has its bars, its name and n") {
  const auto picture = make_bar_picture(chart());
  const auto canvas = test::drawn(*picture, on_paper(), {0, 0, 900, 500});
  for (const char* text : {"accepted_per_step, by category and name", "rag", "story", "n = 5",
                           "n-gram trie", "prompt lookup", "2.00", "1.00", "0.50"}) {
    CAPTURE(text);
    CHECK(test::find(canvas, text));
  }
  const auto* const high = test::find(canvas, "2.00");
  const auto* const low = test::find(canvas, "0.50");
  CHECK(high->box.y < low->box.y);
}

TEST_CASE("bar picture: lying, it has a row a series and a column a group") {
  BarChart lying = chart();
  lying.lies = lying.marks_best = true;
  const auto picture = make_bar_picture(lying);
  const auto canvas = test::drawn(*picture, on_paper(), {0, 0, 900, 200});
  const auto* const trie = test::find(canvas, "n-gram trie");
  const auto* const lookup = test::find(canvas, "prompt lookup");
  REQUIRE(trie);
  REQUIRE(lookup);
  CHECK(trie->box.y < lookup->box.y);
  CHECK(test::find(canvas, "rag")->box.x < test::find(canvas, "story")->box.x);
  CHECK(test::find(canvas, "1.00")->box.y == doctest::Approx(lookup->box.y).epsilon(0.2));
  CHECK(test::find(canvas, "–"));  // no bar of prompt lookup among the stories
}

TEST_CASE("bar picture: a ring stands where its figure would reach, on the bars' scale") {
  BarChart rings = chart();
  rings.values[0][0]->ring = 4;
  const auto without = test::drawn(*make_bar_picture(chart()), on_paper(), {0, 0, 900, 500});
  const auto with = test::drawn(*make_bar_picture(rings), on_paper(), {0, 0, 900, 500});
  CHECK(test::find(with, "4"));  // the scale goes that far
  CHECK_FALSE(test::find(without, "4"));
}

TEST_CASE("bar picture: the table leaves out bars that there are not") {
  const auto picture = make_bar_picture(chart());
  CHECK(picture->csv(on_paper()) ==
        "group,series,n,mean,low,high\nrag,n-gram trie,5,2,1.5,2.5\n"
        "rag,prompt lookup,5,1,0.75,1.25\nstory,n-gram trie,5,0.5,0.25,0.75\n");
  const auto empty = make_bar_picture({});
  CHECK(test::find(test::drawn(*empty, on_paper(), {0, 0, 400, 300}), empty->info().empty));
}

}  // namespace
}  // namespace triescope::viz::test_bar_picture
