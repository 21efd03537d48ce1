#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/base/rng.h"
#include "viz/layouts/trie_folds.h"
#include "viz/layouts/trie_layout.h"

namespace test_trie_layout {

using triescope::Rng;
using triescope::viz::fold_trie;
using triescope::viz::FoldMode;
using triescope::viz::FoldOptions;
using triescope::viz::TrieLayout;

namespace {

// A tree that grows like a decoding tree: mostly at its newest leaves.
std::vector<std::int32_t> random_tree(std::uint64_t seed, std::int32_t count) {
  Rng rng(seed);
  std::vector<std::int32_t> parents = {-1};
  for (std::int32_t i = 1; i < count; ++i) {
    const std::int32_t reach = rng.uniform() < 0.8 ? std::min(i, 6) : i;
    parents.push_back(i - 1 -
                      static_cast<std::int32_t>(rng.next() % static_cast<std::uint64_t>(reach)));
  }
  return parents;
}

TrieLayout grown(const std::vector<std::int32_t>& parents) {
  TrieLayout layout;
  for (const std::int32_t parent : parents) REQUIRE(layout.append(parent));
  return layout;
}

void check_invariants(const TrieLayout& layout) {
  for (std::int32_t i = 1; i < layout.size(); ++i) {
    REQUIRE(layout.column(i) == layout.column(layout.parent(i)) + 1);
    REQUIRE(layout.row(i) >= layout.row(layout.parent(i)));
    if (layout.first_child(layout.parent(i)) == i)
      REQUIRE(layout.row(i) == layout.row(layout.parent(i)));
    REQUIRE(layout.row(i) < layout.rows());
  }
  std::int32_t listed = 0;
  for (std::int32_t c = 0; c < layout.columns(); ++c) {
    const auto items = layout.column_items(c);
    listed += static_cast<std::int32_t>(items.size());
    for (std::size_t k = 1; k < items.size(); ++k) {
      REQUIRE(layout.row(items[k]) > layout.row(items[k - 1]));  // no two on one spot
      // No edges cross: parents are in the same order.
      REQUIRE(layout.row(layout.parent(items[k])) >= layout.row(layout.parent(items[k - 1])));
    }
  }
  CHECK(listed == layout.size());
}

}  // namespace

TEST_CASE(
    "trie layout: no two items share a spot, children stand right of parents, no edge crosses") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    TrieLayout layout;
    layout.build(random_tree(seed, 300));
    check_invariants(layout);
  }
}

TEST_CASE("trie layout: grown item by item equals made from scratch") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto parents = random_tree(seed, 200);
    const TrieLayout steps = grown(parents);
    TrieLayout whole;
    whole.build(parents);
    REQUIRE(steps.rows() == whole.rows());
    for (std::int32_t i = 0; i < steps.size(); ++i) {
      REQUIRE(steps.row(i) == whole.row(i));
      REQUIRE(steps.column(i) == whole.column(i));
    }
    check_invariants(steps);
  }
}

TEST_CASE("trie layout: a path is one row, a comb takes as few rows as its teeth need") {
  TrieLayout path;
  path.build(std::vector<std::int32_t>{-1, 0, 1, 2, 3});
  CHECK(path.rows() == 1);
  // A comb with a stem of 5 and a tooth of one at every node: the teeth are in different columns.
  TrieLayout comb;
  comb.build(std::vector<std::int32_t>{-1, 0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(comb.rows() == 2);
}

TEST_CASE(
    "trie layout: late siblings stand below the others, and an early one cannot be appended "
    "above") {
  TrieLayout layout;
  // The dead child has the smaller number, but the live one keeps the straight line.
  layout.build(std::vector<std::int32_t>{-1, 0, 0}, std::vector<char>{0, 1, 0});
  CHECK(layout.row(2) == 0);
  CHECK(layout.row(1) == 1);
  CHECK_FALSE(layout.append(0, false));
  CHECK(layout.size() == 3);
  CHECK(layout.append(0, true));
  CHECK(layout.row(3) == 2);
}

namespace {

using triescope::capture::NodeRow;
using triescope::capture::NodeState;

struct Tree {
  std::vector<NodeRow> nodes;
  std::vector<NodeState> states;
  std::int32_t add(std::int32_t parent, int step, NodeState state) {
    NodeRow row{.node = static_cast<std::int32_t>(nodes.size()), .parent = parent};
    row.depth = parent < 0 ? 0 : nodes[static_cast<std::size_t>(parent)].depth + 1;
    row.tick = triescope::capture::make_tick(step, triescope::capture::Phase::kAccept);
    nodes.push_back(row);
    states.push_back(state);
    return row.node;
  }
};

// A live stem with a dead branch of two nodes at every tenth node.
Tree long_run(int steps) {
  Tree tree;
  std::int32_t stem = tree.add(-1, 0, NodeState::kLive);
  for (int step = 0; step < steps; ++step) {
    const std::int32_t next = tree.add(stem, step, NodeState::kLive);
    if (step % 10 == 0)
      tree.add(tree.add(stem, step, NodeState::kPruned), step, NodeState::kPruned);
    stem = next;
  }
  return tree;
}

std::int64_t accounted(const std::vector<triescope::viz::TrieItem>& items) {
  std::int64_t nodes = 0;
  for (const auto& item : items) nodes += item.run + item.hidden_dead + item.hidden_other;
  return nodes;
}

}  // namespace

TEST_CASE(
    "trie folds: small tries are shown whole; in large ones old dead branches become counts") {
  const Tree small = long_run(30);
  CHECK(fold_trie(small.nodes, small.states, 29, {}).size() == small.nodes.size());

  const Tree large = long_run(400);
  const auto items = fold_trie(large.nodes, large.states, 399, {});
  CHECK(items.size() < large.nodes.size() / 4);
  CHECK(accounted(items) == static_cast<std::int64_t>(large.nodes.size()));  // nothing is dropped
  for (std::size_t i = 1; i < items.size(); ++i)
    CHECK(items[i].parent < static_cast<std::int32_t>(i));
  // A branch that has just died is still shown.
  const auto shows = [&](std::int32_t node) {
    return std::any_of(items.begin(), items.end(),
                       [&](const auto& item) { return item.node == node; });
  };
  Tree fresh = large;
  const std::int32_t victim = fresh.add(fresh.nodes.back().node, 399, NodeState::kPruned);
  const auto with = fold_trie(fresh.nodes, fresh.states, 399, {});
  CHECK(
      std::any_of(with.begin(), with.end(), [&](const auto& item) { return item.node == victim; }));
  CHECK(shows(large.nodes.back().node));
}

TEST_CASE("trie folds: what the user opens is shown, what he closes is counted") {
  const Tree tree = long_run(400);
  FoldOptions options;
  options.mode = FoldMode::kNone;
  CHECK(fold_trie(tree.nodes, tree.states, 399, options).size() == tree.nodes.size());
  options.closed = {5};
  const auto closed = fold_trie(tree.nodes, tree.states, 399, options);
  CHECK(accounted(closed) == static_cast<std::int64_t>(tree.nodes.size()));
  CHECK(closed.size() < 12);

  FoldOptions automatic;
  const auto items = fold_trie(tree.nodes, tree.states, 399, automatic);
  const auto run =
      std::find_if(items.begin(), items.end(), [](const auto& item) { return item.run > 1; });
  REQUIRE(run != items.end());
  automatic.opened = {run->node};
  const auto opened = fold_trie(tree.nodes, tree.states, 399, automatic);
  CHECK(opened.size() == items.size() + static_cast<std::size_t>(run->run) - 1);
  CHECK(accounted(opened) == static_cast<std::int64_t>(tree.nodes.size()));
}

namespace {

// A live path of `depth` nodes below the root.
Tree stem_of(std::int32_t depth) {
  Tree tree;
  std::int32_t tip = tree.add(-1, 0, NodeState::kLive);
  for (std::int32_t i = 0; i < depth; ++i) tip = tree.add(tip, 0, NodeState::kLive);
  return tree;
}

}  // namespace

TEST_CASE(
    "trie folds: of 60 withdrawn drafts and more one below each parent is drawn in their step, none later") {
  for (const int withdrawn : {59, 60}) {
    Tree tree = stem_of(2);  // nodes 0, 1, 2
    for (int i = 0; i < withdrawn; ++i) tree.add(1 + i % 2, 4, NodeState::kWithdrawn);
    const std::size_t all = tree.nodes.size();
    const auto shown = [&](std::int32_t step, const FoldOptions& options) {
      const auto items = fold_trie(tree.nodes, tree.states, step, options);
      CHECK(accounted(items) == static_cast<std::int64_t>(all));
      return items.size();
    };
    const auto mode = [](FoldMode chosen) {
      FoldOptions options;
      options.mode = chosen;
      return options;
    };
    const bool many = withdrawn == 60;
    CHECK(shown(4, {}) == (many ? 5 : all));
    CHECK(shown(5, {}) == (many ? 3 : all));
    CHECK(shown(4, mode(FoldMode::kAll)) == 5);
    CHECK(shown(4, mode(FoldMode::kNone)) == all);
    FoldOptions opened;
    opened.opened = {2};
    CHECK(shown(5, opened) == (many ? 3 + 30 : all));
  }
}

TEST_CASE("trie folds: from 300 nodes on a dead branch is left out 7 steps after its last node") {
  for (const int others : {297, 298}) {
    Tree tree = stem_of(1);
    for (int i = 1; i < others; ++i) tree.add(0, 0, NodeState::kLive);
    const std::int32_t dead = tree.add(0, 10, NodeState::kPruned);
    REQUIRE(dead == others + 1);
    const std::size_t all = tree.nodes.size();
    CAPTURE(all);
    CHECK(fold_trie(tree.nodes, tree.states, 16, {}).size() == all);
    const auto later = fold_trie(tree.nodes, tree.states, 17, {});
    CHECK(later.size() == (all >= 300 ? all - 1 : all));
    CHECK(later[0].hidden_dead == (all >= 300 ? 1 : 0));
  }
}

TEST_CASE("trie folds: from 91 columns on a stretch becomes one item, up to the growing end") {
  const Tree shorter = stem_of(90), longer = stem_of(91);
  CHECK(fold_trie(shorter.nodes, shorter.states, 0, {}).size() == 91);
  const auto items = fold_trie(longer.nodes, longer.states, 0, {});
  REQUIRE(items.size() == 19);  // root, the first node, the run, 16 at the end
  CHECK(items[2].node == 2);
  CHECK(items[2].run == 74);
  CHECK(items[2].last == 75);
  CHECK(items[3].node == 76);
  CHECK(items[3].parent == 2);
}

TEST_CASE("trie folds: a stretch of 8 is worth a fold, one of 7 is not") {
  FoldOptions all;
  all.mode = FoldMode::kAll;
  const Tree seven = stem_of(24), eight = stem_of(25);
  CHECK(fold_trie(seven.nodes, seven.states, 0, all).size() == 25);
  const auto items = fold_trie(eight.nodes, eight.states, 0, all);
  CHECK(items.size() == 26 - 7);
  CHECK(items[2].run == 8);
}

}  // namespace test_trie_layout
