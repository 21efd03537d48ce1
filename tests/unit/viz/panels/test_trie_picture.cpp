// The trie from far away, where several nodes share a mark.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/trie_shape.h"

namespace triescope::test::test_trie_picture {
namespace {

// The prompt has 300 children. 11 is the best beam, 10 the second; the others are pruned.
const Capture& fan() {
  static const auto opened = make_capture([](Recorder& out) {
    const Tick accept = make_tick(0, Phase::kAccept);
    RowTables rows{.run = synthetic_info(3, "beam", "", "recycle"), .nodes = {{}}};
    for (std::int32_t id = 1; id <= 300; ++id) {
      rows.nodes.push_back({.node = id,
                            .parent = 0,
                            .token = id,
                            .depth = 1,
                            .source = Source::kBeam,
                            .tick = accept});
      rows.verdicts.push_back(
          {.tick = accept,
           .node = id,
           .verdict = id == 10 || id == 11 ? Verdict::kKept : Verdict::kPruned});
    }
    rows.frontier = {{.step = 0, .rank = 0, .node = 11}, {.step = 0, .rank = 1, .node = 10}};
    rows.phases = {{.tick = make_tick(0, Phase::kObserve)}};
    out.write(rows);
  });
  return *opened->capture;
}

std::int64_t marks_in(const RecordingCanvas& canvas, viz::Color c) {
  char color[16];
  std::snprintf(color, sizeof color, " %02x%02x%02x%02x", c.r, c.g, c.b, c.a);
  return std::count_if(canvas.calls.begin(), canvas.calls.end(), [&](const std::string& call) {
    return call.starts_with("fill_rect") && call.ends_with(color);
  });
}

TEST_CASE("trie, far away: a mark is that of the focused path, else of the best beam on its spot") {
  const auto panel = viz::make_panel("trie");
  const viz::Rect area{0, 0, 500, 120};
  viz::Scene scene = scene_at(fan(), 5);
  viz::Input fit;
  fit.fit = true;
  drawn(*panel, scene, area);
  panel->input(fit, area, scene);
  const auto whole = drawn(*panel, scene, area);
  CHECK(marks_in(whole, scene.theme.beam(0)) == 1);  // the prompt's, in the same spot as both
  CHECK(marks_in(whole, scene.theme.beam(1)) == 0);
  CHECK(marks_in(whole, scene.theme.focus) == 0);
  for (const std::int32_t node : {150, 151, 200, 299}) {
    CAPTURE(node);
    scene.focus.locked = node;
    CHECK(marks_in(drawn(*panel, scene, area), scene.theme.focus) == 2);  // with the prompt's
  }
}

TEST_CASE("trie shape: a run stands for every node from its first to its last") {
  const auto opened = make_capture([](Recorder& out) {
    RowTables rows{.run = synthetic_info(3, "greedy", "", "recycle"), .nodes = {{}}};
    for (std::int32_t id = 1; id <= 60; ++id) {
      const Tick tick = make_tick(id - 1, Phase::kAccept);
      rows.nodes.push_back({.node = id, .parent = id - 1, .token = id, .depth = id, .tick = tick});
      rows.verdicts.push_back({.tick = tick, .node = id, .verdict = Verdict::kEmitted});
      rows.frontier.push_back({.step = id - 1, .node = id});
    }
    rows.phases = {{.tick = make_tick(59, Phase::kObserve)}};
    out.write(rows);
  });
  viz::TrieShape shape;
  RecordingCanvas canvas;
  viz::FoldOptions folds;
  folds.mode = viz::FoldMode::kAll;
  shape.update(canvas, scene_at(*opened->capture, opened->capture->end_tick()), folds, 1);
  const auto run = std::find_if(shape.items().begin(), shape.items().end(),
                                [](const viz::TrieItem& item) { return item.run > 1; });
  REQUIRE(run != shape.items().end());
  CHECK(run->node == 2);
  CHECK(run->last == 44);  // the newest 16 columns are never folded
  CHECK(run->run == 43);
  for (std::int32_t node = 0; node <= 60; ++node) {
    CAPTURE(node);
    CHECK(shape.contains(*run, node) == (node >= 2 && node <= 44));
  }
}

}  // namespace
}  // namespace triescope::test::test_trie_picture
