#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
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

TEST_CASE("verdict list: a reason has room for its first clauses before further figures have any") {
  const Capture& run = beam_capture();
  const viz::Scene scene = scene_at(run, make_tick(3, Phase::kCommit));
  const std::vector<VerdictRow> rows = {
      {.node = 1, .verdict = Verdict::kRejected, .p = 0.2f, .reason = Reason::kNotArgmax}};
  const viz::DrafterViews drafters = {
      {1, {.has_row = true, .q = 0.3f, .rank = 1, .listed = 16, .is_draft = true, .score = -1}}};
  const auto titles = [&](float width_em) {
    viz::VerdictList list;
    RecordingCanvas canvas;
    list.draw(canvas, {0, 0, width_em * scene.em, 200}, rows, scene, drafters);
    const auto* const why = find(canvas, "why");
    REQUIRE(why);
    CHECK(find(canvas, "p"));
    CHECK(find(canvas, "q"));
    // As much as the figures leave, up to a sentence's first clauses.
    CHECK(width_em * scene.em - why->box.x >= std::min(20.0f, width_em - 20) * scene.em);
    return std::pair(find(canvas, "q rank") != nullptr, find(canvas, "Σ log q") != nullptr);
  };
  CHECK(titles(70) == std::pair(true, true));
  CHECK(titles(43) == std::pair(true, false));
  CHECK(titles(34) == std::pair(false, false));
}

}  // namespace
}  // namespace triescope::test::test_verdict_list
