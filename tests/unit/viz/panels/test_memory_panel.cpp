#include <doctest/doctest.h>

#include <string>

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
