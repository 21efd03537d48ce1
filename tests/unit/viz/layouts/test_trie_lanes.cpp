#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "viz/layouts/trie_lanes.h"
#include "viz/layouts/trie_layout.h"

namespace test_trie_lanes {

using triescope::Rng;
using triescope::viz::trie_lanes;
using triescope::viz::TrieLayout;

namespace {

using Rows = std::vector<std::int32_t>;

struct Growth {
  std::vector<std::int32_t> parents = {-1};
  std::vector<std::int64_t> births = {0};
  std::vector<std::int32_t> behind = {0};
  std::int32_t add(std::int32_t parent, std::int64_t birth, std::int32_t room = 0) {
    parents.push_back(parent);
    births.push_back(birth);
    behind.push_back(room);
    return static_cast<std::int32_t>(parents.size()) - 1;
  }
  Rows rows() const { return trie_lanes(parents, births, behind); }
};

// A random tree: some leaves grow a child or two at every birth, others stop, and now and then one
// gets a chain of drafts.
Growth random_growth(std::uint64_t seed) {
  Rng rng(seed);
  Growth tree;
  Rows leaves = {0};
  for (std::int64_t birth = 1; birth < 40; ++birth) {
    Rows next;
    for (const std::int32_t leaf : leaves) {
      const auto children = static_cast<int>(rng.next() % 3);
      for (int i = 0; i < children; ++i)
        next.push_back(tree.add(leaf, birth, rng.uniform() < 0.1 ? 1 : 0));
      if (rng.uniform() < 0.2) {
        std::int32_t at = leaf;
        for (int i = 0; i < 4; ++i) at = tree.add(at, birth);
      }
    }
    if (next.empty()) next = {static_cast<std::int32_t>(tree.parents.size()) - 1};
    if (next.size() > 6) next.resize(6);
    leaves = next;
  }
  return tree;
}

}  // namespace

TEST_CASE("trie lanes: nothing and a path take no row and one") {
  CHECK(trie_lanes({}, {}).empty());
  Growth path;
  path.add(path.add(path.add(0, 1), 2), 3);
  CHECK(path.rows() == Rows{0, 0, 0, 0});
}

TEST_CASE("trie lanes: a later branch moves nothing, it crosses what is there") {
  Growth tree;
  const std::int32_t a = tree.add(0, 1), b = tree.add(0, 1);  // rows 0 and 1
  const std::int32_t a1 = tree.add(a, 2), a2 = tree.add(a, 2), b1 = tree.add(b, 2);
  CHECK(tree.rows() == Rows{0, 0, 1, 0, 2, 1});  // a2 goes round b, which goes on straight
  tree.add(a1, 3), tree.add(b1, 3), tree.add(b1, 3), tree.add(a2, 3);
  CHECK(tree.rows() == Rows{0, 0, 1, 0, 2, 1, 0, 1, 3, 2});
}

TEST_CASE("trie lanes: the row of a dead branch is taken again, the upper one of two as near") {
  Growth tree;
  for (int i = 0; i < 3; ++i) tree.add(0, 1);                 // rows 0, 1, 2
  const std::int32_t m = tree.add(2, 2), n = tree.add(2, 2);  // only the middle one goes on
  CHECK(tree.rows() == Rows{0, 0, 1, 2, 1, 0});
  tree.add(m, 3), tree.add(n, 3), tree.add(n, 3);
  CHECK(tree.rows() == Rows{0, 0, 1, 2, 1, 0, 1, 0, 2});
}

TEST_CASE(
    "trie lanes: no line runs into one that reaches further, and what is written keeps its room") {
  Growth tree;
  std::int32_t draft = 0;
  for (int i = 0; i < 3; ++i) draft = tree.add(draft, 1);  // columns 1 to 3 of row 0
  const std::int32_t bonus = tree.add(1, 2);               // column 2: row 0 is taken further on
  CHECK(tree.rows()[4] == 1);
  tree.add(bonus, 3), tree.add(5, 4);
  CHECK(tree.rows() == Rows{0, 0, 0, 0, 1, 1, 1});
  CHECK(draft == 3);

  Growth scored;
  const std::int32_t done = scored.add(0, 1, 1), on = scored.add(0, 1);
  scored.add(on, 2), scored.add(on, 2);  // column 2: behind `done` stands its score
  CHECK(scored.rows() == Rows{0, 0, 1, 1, 2});
  scored.add(3, 3), scored.add(3, 3);  // column 3: free again
  CHECK(scored.rows() == Rows{0, 0, 1, 1, 2, 1, 0});
  CHECK(done == 1);
}

TEST_CASE("trie lanes: a first child whose row is taken goes to the nearest") {
  Growth tree;
  const std::int32_t a = tree.add(0, 1), b = tree.add(0, 1);
  tree.add(a, 2), tree.add(b, 2);
  // Old nodes can grow: node 4 hangs below node 2 (row 1, column 1) in column 2. Node 2 gets a
  // second child with a child of its own, drafts in columns 2 and 3. Then node 4 goes on.
  tree.add(tree.add(b, 3), 3);
  CHECK(tree.rows() == Rows{0, 0, 1, 0, 1, 2, 2});
  tree.add(3, 4), tree.add(3, 4), tree.add(3, 4);  // rows 0, 1, 3
  CHECK(tree.rows() == Rows{0, 0, 1, 0, 1, 2, 2, 0, 1, 3});
  tree.add(4, 5);  // its row 1 is taken in column 3
  CHECK(tree.rows()[10] == 4);
}

TEST_CASE("trie lanes: a row once given stays, whatever comes") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Growth tree = random_growth(seed);
    const Rows whole = tree.rows();
    for (std::size_t n = 1; n < whole.size(); ++n) {
      if (tree.births[n] == tree.births[n - 1]) continue;
      Growth part = tree;
      part.parents.resize(n), part.births.resize(n), part.behind.resize(n);
      REQUIRE(part.rows() == Rows(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
    }
  }
}

TEST_CASE("trie lanes: no two items share a spot, and the layout finds them by column and row") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Growth tree = random_growth(seed);
    const Rows rows = tree.rows();
    TrieLayout layout;
    layout.place(tree.parents, rows);
    REQUIRE(layout.size() == static_cast<std::int32_t>(rows.size()));
    CHECK(layout.rows() == *std::max_element(rows.begin(), rows.end()) + 1);
    std::set<std::pair<std::int32_t, std::int32_t>> spots;
    std::int32_t listed = 0;
    for (std::int32_t c = 0; c < layout.columns(); ++c) {
      const auto items = layout.column_items(c);
      listed += static_cast<std::int32_t>(items.size());
      for (std::size_t k = 0; k < items.size(); ++k) {
        REQUIRE(layout.column(items[k]) == c);
        REQUIRE(layout.row(items[k]) == rows[static_cast<std::size_t>(items[k])]);
        if (k > 0) REQUIRE(layout.row(items[k]) > layout.row(items[k - 1]));
        spots.insert({c, layout.row(items[k])});
      }
    }
    CHECK(listed == layout.size());
    CHECK(spots.size() == rows.size());
    for (std::int32_t i = 1; i < layout.size(); ++i) {
      REQUIRE(layout.parent(i) == tree.parents[static_cast<std::size_t>(i)]);
      REQUIRE(layout.column(i) == layout.column(layout.parent(i)) + 1);
      REQUIRE(layout.first_child(layout.parent(i)) <= i);
      REQUIRE(layout.last_child(layout.parent(i)) >= i);
    }
  }
}

}  // namespace test_trie_lanes
