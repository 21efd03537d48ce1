// The Acceptance panel: what it shows by what is chosen, and what a click on a bar does.
#include <doctest/doctest.h>

#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/panels/charts.h"

namespace triescope::viz::test_acceptance_panel {
namespace {

using capture::make_tick;
using capture::Phase;

constexpr Rect kArea{0, 0, 700, 300};

Scene whole() {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  return test::scene_at(run, run.end_tick());
}

TEST_CASE("acceptance panel: each bar has its share and its cases") {
  const auto panel = make_panel("acceptance-by");
  auto canvas = test::drawn(*panel, whole(), kArea);
  CHECK(test::find(canvas, "100 %  2 of 2"));
  CHECK(test::find(canvas, "0 %  0 of 2"));
  CHECK(test::find(canvas, "n = 4 places"));
  CHECK(
      panel->csv(whole()).starts_with("by,group,n,accepted,share,low,high,mean_p\ndepth,1,2,2,1,"));
  panel->set_view_state("by=rank");
  CHECK(panel->view_state() == "by=rank");
  canvas = test::drawn(*panel, whole(), kArea);
  CHECK(test::find(canvas, "25 %  1 of 4"));
  CHECK(test::find(canvas, "n = 6 drafts"));
  panel->set_view_state("by=nonsense");
  CHECK(panel->view_state() == "by=rank");
}

TEST_CASE("acceptance panel: a button and the keys choose by what") {
  const auto panel = make_panel("acceptance-by");
  const auto canvas = test::drawn(*panel, whole(), kArea);
  const auto* const button = test::find(canvas, "tree");
  REQUIRE(button);
  Input in = test::mouse_over(*button);
  in.clicked = true;
  panel->input(in, kArea, whole());
  CHECK(panel->view_state() == "by=tree");
  Input next;
  next.inside = next.next = true;
  panel->input(next, kArea, whole());
  CHECK(panel->view_state() == "by=source");
}

TEST_CASE("acceptance panel: a low pane keeps its bars, and one button for the next choice") {
  const auto panel = make_panel("acceptance-by");
  constexpr Rect kLow{0, 0, 340, 120};
  const auto canvas = test::drawn(*panel, whole(), kLow);
  CHECK(test::find(canvas, "100 %  2 of 2"));
  CHECK(test::find(canvas, "0 %  0 of 2"));
  const auto* const button = test::find(canvas, "by depth ›");
  REQUIRE(button);
  Input in = test::mouse_over(*button);
  in.clicked = true;
  panel->input(in, kLow, whole());
  CHECK(panel->view_state() == "by=position");
}

TEST_CASE("acceptance panel: a click goes to the next refused case, around the end") {
  const auto panel = make_panel("acceptance-by");
  panel->set_view_state("by=rank");
  Scene scene = whole();
  const auto click = [&](bool shift) {
    const auto canvas = test::drawn(*panel, scene, kArea);
    const auto* const figures = test::find(canvas, "25 %  1 of 4");
    REQUIRE(figures);
    Input in = test::mouse_over(*figures);
    in.clicked = true;
    in.shift = shift;
    return panel->input(in, kArea, scene);
  };
  // Rank 1 was refused in steps 1 (node 4) and 2 (nodes 7 and 9); the cursor stands behind step 2.
  Reaction reaction = click(false);
  CHECK(reaction.cursor == make_tick(2, Phase::kDraft));
  CHECK(reaction.lock == 4);
  CHECK(reaction.tooltip[1] == "drafts: 4, 1 accepted");
  reaction = click(true);
  CHECK(reaction.lock == 2);  // the accepted one
}

TEST_CASE("acceptance panel: without drafts it says so, and a chart is there for each") {
  const auto panel = make_panel("acceptance-by");
  const Scene before = test::scene_at(test::withdrawn_drafts_capture(), 0);
  CHECK(test::find(test::drawn(*panel, before, kArea), panel->info().empty));
  for (const char* by : {"rank", "tree", "source", "position", "kind", "entropy", "q"}) {
    CAPTURE(by);
    const auto chart = make_picture(std::string("acceptance-by-") + by);
    CHECK(chart->csv(whole()).starts_with("by,group,n,"));
    CHECK(chart->view_state().empty());
  }
}

}  // namespace
}  // namespace triescope::viz::test_acceptance_panel
