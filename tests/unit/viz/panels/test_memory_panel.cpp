#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"

namespace triescope::test::test_memory_panel {
namespace {

TEST_CASE("memory: a view is what is set, not what was hidden before") {
  const auto panel = viz::make_panel("memory");
  CHECK(panel->view_state() == "lines");
  panel->set_view_state("stacked;hidden=reserved,greedy");
  CHECK(panel->view_state() == "stacked;hidden=reserved,greedy");
  panel->set_view_state("lines;hidden=greedy,unknown");
  CHECK(panel->view_state() == "lines;hidden=greedy");
  panel->set_view_state("lines");
  CHECK(panel->view_state() == "lines");
}

TEST_CASE("memory: its curves are listed for the menu of the tab, and hidden from there") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("memory");
  const viz::Scene scene = scene_at(run, run.end_tick());
  const auto shown = [&] {
    std::string all;
    for (const viz::Panel::Curve& curve : panel->curves(scene))
      all += (curve.is_shown ? "+" : "-") + curve.name + " ";
    return all;
  };
  CHECK(shown() == "+live +reserved +greedy ");
  panel->flip_curve("reserved");
  panel->flip_curve("unknown");
  CHECK(shown() == "+live -reserved +greedy ");
  CHECK(panel->view_state() == "lines;hidden=reserved");
  panel->flip_curve("reserved");
  CHECK(shown() == "+live +reserved +greedy ");
  CHECK(viz::make_panel("trie")->curves(scene).empty());
}

TEST_CASE("memory: of a step that has not ended at the cursor nothing is told") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("memory");
  const viz::Rect area{0, 0, 900, 400};
  REQUIRE(run.last_step() >= 3);
  const viz::Scene scene = scene_at(run, make_tick(2, Phase::kCommit));
  drawn(*panel, scene, area);
  std::size_t seen = 0, unseen = 0;
  for (float x = 60; x < 830; x += 4) {
    viz::Input in = mouse_at({x, 300});
    in.clicked = true;
    const auto reaction = panel->input(in, area, scene);
    if (reaction.tooltip.empty() || !reaction.tooltip[0].starts_with("step ")) continue;
    const int step = std::stoi(reaction.tooltip[0].substr(5));
    CHECK(reaction.cursor ==
          std::min(run.end_tick(), make_tick(step + 1, Phase::kDraft)));  // it still leads there
    if (step < 2) {
      ++seen;
      CHECK(reaction.tooltip.size() > 2);
    } else {
      ++unseen;
      CHECK(reaction.tooltip ==
            std::vector<std::string>{"step " + std::to_string(step),
                                     "the cursor has not seen the end of this step yet"});
    }
  }
  CHECK(seen > 0);
  CHECK(unseen > 0);
}

TEST_CASE("memory: zooming keeps the step under the pointer, and brings the others apart") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("memory");
  const viz::Rect area{0, 0, 900, 400};
  const viz::Scene scene = scene_at(run, run.end_tick());
  drawn(*panel, scene, area);
  const auto step = [&](float x) {
    const auto reaction = panel->input(mouse_at({x, 300}), area, scene);
    REQUIRE(!reaction.tooltip.empty());
    return std::stoi(reaction.tooltip[0].substr(5));
  };
  const float at = 520;
  const int under = step(at), before = step(at + 200) - step(at - 200);
  viz::Input in = mouse_at({at, 300});
  in.wheel = 1;
  for (int i = 0; i < 4; ++i) {
    panel->input(in, area, scene);
    drawn(*panel, scene, area);
    CHECK(step(at) == under);
  }
  CHECK(step(at + 200) - step(at - 200) < before);
}

}  // namespace
}  // namespace triescope::test::test_memory_panel
