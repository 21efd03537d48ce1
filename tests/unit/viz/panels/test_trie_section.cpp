// Figures of the trie that are limited to the nodes of some steps, or to a size too small for the
// whole tree. No letters are too small to read, and missing nodes are counted.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/layouts/trie_folds.h"

namespace triescope::viz::test_trie_section {
namespace {

using capture::NodeRow;
using capture::NodeState;
using test::beam_capture;
using test::draft_capture;

// A tree whose nodes come in given steps.
struct Tree {
  std::vector<NodeRow> nodes;
  std::vector<NodeState> states;
  std::int32_t hang(std::int32_t parent, std::int32_t step, NodeState state = NodeState::kLive) {
    NodeRow row;
    row.node = static_cast<std::int32_t>(nodes.size());
    row.parent = parent;
    row.depth = parent < 0 ? 0 : nodes[static_cast<std::size_t>(parent)].depth + 1;
    row.tick = capture::make_tick(step, capture::Phase::kAccept);
    nodes.push_back(row);
    states.push_back(state);
    return row.node;
  }
};

Scene figure_of(const capture::Capture& run, std::int32_t step) {
  Scene scene = test::scene_at(run, capture::make_tick(step + 1, capture::Phase::kDraft));
  scene.export_mode = true;
  return scene;
}

std::int32_t count_in(const std::string& text) {
  return text.starts_with("+ ") ? std::stoi(text.substr(2)) : 0;
}

}  // namespace

TEST_CASE("trie section: the nodes of some steps, and the way to them in runs without a branch") {
  Tree tree;
  std::int32_t at = tree.hang(-1, 0);
  for (int step = 0; step < 6; ++step) at = tree.hang(at, step);  // nodes 1 to 6
  const std::int32_t dead = tree.hang(3, 3, NodeState::kPruned);
  std::int32_t left = tree.hang(at, 6), right = tree.hang(at, 6);
  for (int step = 7; step < 10; ++step)
    left = tree.hang(left, step), right = tree.hang(right, step);

  const auto items = section_of_trie(tree.nodes, tree.states, {9, 9});
  std::set<std::int32_t> shown;
  std::int32_t stood_for = 0;
  for (const TrieItem& item : items) {
    shown.insert(item.node);
    stood_for += item.run;
    if (item.parent >= 0) {
      const TrieItem& parent = items[static_cast<std::size_t>(item.parent)];
      CHECK(tree.nodes[static_cast<std::size_t>(item.node)].parent == parent.last);
    }
  }
  CHECK(shown.contains(0));
  CHECK(shown.contains(left));
  CHECK(shown.contains(right));
  CHECK_FALSE(shown.contains(dead));
  // Items are the root, the chain's six nodes as one, and for each beam a run, the node that it
  // hangs from, and the node itself.
  REQUIRE(items.size() == 1 + 1 + 2 * 3);
  CHECK(items[1].run == 6);
  CHECK(items[1].last == at);
  CHECK(stood_for == static_cast<std::int32_t>(tree.nodes.size()) - 1);

  // No node came in the steps asked for, so the last ones before them are shown.
  tree.hang(left, 12);
  const auto before = section_of_trie(tree.nodes, tree.states, {10, 11});
  CHECK(before.size() == items.size());
}

TEST_CASE("trie section: of many withdrawn drafts one below each parent") {
  Tree tree;
  const std::int32_t root = tree.hang(-1, 0), first = tree.hang(root, 0);
  for (int i = 0; i < 20; ++i) tree.hang(first, 1, NodeState::kWithdrawn);
  const std::int32_t kept = tree.hang(first, 1, NodeState::kAccepted);
  const auto items = section_of_trie(tree.nodes, tree.states, {1, 1});
  CHECK(items.size() == 4);
  CHECK(items.back().node == kept);
}

TEST_CASE("trie figure: of some steps it has their nodes alone, and says how many it lacks") {
  for (const capture::Capture* run : {&beam_capture(), &draft_capture()}) {
    const auto panel = make_panel("trie");
    Scene scene = figure_of(*run, 12);
    test::RecordingCanvas canvas;
    const Point whole = panel->extent(canvas, scene);
    scene.range = std::pair(11, 12);
    const Point some = panel->extent(canvas, scene);
    CHECK(some.x < whole.x * 0.6f);
    const auto drawn = test::drawn(*panel, scene, {0, 0, some.x, some.y});
    std::int32_t lacking = 0;
    for (const auto& text : drawn.texts) lacking += count_in(text.text);
    std::int32_t of_steps = 0;
    for (const NodeRow& row : run->nodes_at(scene.cursor)) {
      const std::int32_t step = capture::step_of(row.tick);
      of_steps += step == 11 || step == 12;
    }
    REQUIRE(of_steps > 0);
    CHECK(lacking > 0);
    CHECK(lacking + of_steps < static_cast<std::int32_t>(run->nodes_at(scene.cursor).size()));
    // The window shows the whole trie, whatever range is chosen.
    scene.export_mode = false;
    for (const auto& text : test::drawn(*panel, scene, {0, 0, 4000, 2000}).texts)
      CHECK(count_in(text.text) == 0);
  }
}

TEST_CASE("trie figure: whatever its size, every box has its letters, and what it lacks is said") {
  for (const capture::Capture* run : {&beam_capture(), &draft_capture()})
    for (const Point size : {Point{900, 400}, {420, 240}, {300, 160}, {960, 540}, {5000, 300}})
      for (const std::int32_t step : {2, 9, 20}) {
        CAPTURE(size.x);
        CAPTURE(step);
        const auto panel = make_panel("trie");
        const Scene scene = figure_of(*run, step);
        const auto canvas = test::drawn(*panel, scene, {0, 0, size.x, size.y});
        float smallest = 1000;
        bool says = false;
        for (const auto& text : canvas.texts) {
          smallest = std::min(smallest, text.size);
          says |= count_in(text.text) > 0;
        }
        CHECK(smallest >= scene.em * 0.55f);
        test::RecordingCanvas measure;
        const Point whole = panel->extent(measure, scene);
        if (whole.x * 0.7f > size.x) CHECK(says);
        if (whole.x <= size.x && whole.y <= size.y) CHECK_FALSE(says);
        // The newest token of the best text is in sight.
        const auto frontier = run->frontier(step);
        REQUIRE(!frontier.empty());
        CHECK(std::ranges::any_of(canvas.texts,
                                  [](const auto& text) { return text.text.starts_with("#1"); }));
      }
}

TEST_CASE("trie for an audience: fitting shows the step in letters of full size") {
  for (const capture::Capture* run : {&beam_capture(), &draft_capture()}) {
    const auto panel = make_panel("trie");
    Scene scene = test::scene_at(*run, capture::make_tick(20, capture::Phase::kCommit));
    scene.em = 20;
    scene.series = scene.steady = true;
    const Rect area{0, 0, 700, 400};
    test::drawn(*panel, scene, area);
    for (int i = 0; i < 3; ++i) {
      Input in = test::mouse_at({300, 300});
      if (i == 1) in.wheel = -6;  // away
      if (i != 1) in.fit = true;
      panel->input(in, area, scene);
      const auto canvas = test::drawn(*panel, scene, area);
      float smallest = 1000;
      for (const auto& text : canvas.texts) smallest = std::min(smallest, text.size);
      if (i == 1)
        CHECK(smallest < 20 * 0.74f - 0.1f);
      else
        CHECK(smallest >= 20 * 0.74f - 0.01f);
    }
  }
}

TEST_CASE("trie for an audience: a step's accepted nodes are in sight before its rejected ones") {
  const capture::Capture& run = draft_capture();
  std::size_t full = 0, partly = 0;
  for (std::int32_t step = 2; step < 30; ++step) {
    CAPTURE(step);
    const auto panel = make_panel("trie");
    Scene scene = test::scene_at(run, capture::make_tick(step, capture::Phase::kCommit));
    scene.em = 20;
    scene.series = scene.steady = true;
    for (const Rect area : {Rect{0, 0, 2400, 1600}, {0, 0, 700, 300}}) {
      const auto canvas = test::drawn(*panel, scene, area);
      const auto note = std::ranges::find_if(
          canvas.texts, [](const auto& text) { return text.text.ends_with("of this step"); });
      const bool rank = std::ranges::any_of(canvas.texts, [&](const auto& text) {
        return text.text == "#1" && text.box.right() <= area.w && text.box.bottom() <= area.h;
      });
      CHECK(rank);
      ++(note == canvas.texts.end() ? full : partly);
      if (area.w > 2000) CHECK(note == canvas.texts.end());
    }
  }
  CHECK(full >= 28);
  CHECK(partly > 0);
}

}  // namespace triescope::viz::test_trie_section
