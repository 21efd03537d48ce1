#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/verdict_list.h"

namespace triescope::test::test_verdict_list {
namespace {

TEST_CASE(
    "verdict list: a beam's distance is to the worst survivor, or to the best that was pruned") {
  const Capture& run = beam_capture();
  const viz::Scene scene = scene_at(run, make_tick(3, Phase::kCommit));
  std::vector<VerdictRow> rows = {
      {.node = 1, .verdict = Verdict::kPruned, .score = -2, .gap = 0.5f},
      {.node = 2, .verdict = Verdict::kKept, .rank = 0, .score = -1, .gap = 0.25f}};
  viz::VerdictList list;
  RecordingCanvas canvas;
  list.draw(canvas, {0, 0, 900, 200}, rows, scene);
  const auto tooltip = [&](const char* figure) {
    const auto* text = find(canvas, figure);
    REQUIRE(text);
    viz::Reaction reaction;
    list.input(mouse_over(*text), rows, scene, reaction);
    REQUIRE(!reaction.tooltip.empty());
    return reaction.tooltip.back();
  };
  CHECK(tooltip("-2.000") == "Σ log p -2.000, Δ 0.500 to the worst survivor");
  CHECK(tooltip("-1.000") == "Σ log p -1.000, Δ 0.250 to the best that was pruned");
}

}  // namespace
}  // namespace triescope::test::test_verdict_list
