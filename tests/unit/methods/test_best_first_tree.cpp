// DDTree's tree: by hand, against all trees of a size, and its ends.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/rng.h"
#include "core/methods/best_first_tree.h"

namespace triescope::test::test_best_first_tree {
namespace {

const auto kNever = [](std::int32_t) { return false; };

DepthRow row_of(std::vector<std::pair<double, std::int32_t>> probabilities) {
  DepthRow row;
  for (const auto& [p, token] : probabilities)
    row.emplace_back(static_cast<float>(std::log(p)), token);
  return row;
}

std::vector<std::int32_t> path_of(const std::vector<GrownNode>& tree, int at) {
  std::vector<std::int32_t> path;
  for (; at >= 0; at = tree[static_cast<std::size_t>(at)].parent)
    path.insert(path.begin(), tree[static_cast<std::size_t>(at)].token);
  return path;
}

TEST_CASE(
    "best-first tree: the heaviest open node comes next, and opens its sibling and its child") {
  const std::vector<DepthRow> rows = {row_of({{0.6, 5}, {0.3, 6}, {0.1, 7}}),
                                      row_of({{0.7, 8}, {0.2, 9}, {0.1, 5}})};
  // 5 .6; 5-8 .42; 6 .3; 6-8 .21; 5-9 .12; 7 .1; 7-8 .07
  const std::vector<GrownNode> tree = grow_best_first(rows, 7, kNever);
  const std::vector<std::vector<std::int32_t>> expected = {{5},    {5, 8}, {6},   {6, 8},
                                                           {5, 9}, {7},    {7, 8}};
  const std::vector<double> weights = {0.6, 0.42, 0.3, 0.21, 0.12, 0.1, 0.07};
  REQUIRE(tree.size() == expected.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    CHECK(path_of(tree, static_cast<int>(i)) == expected[i]);
    CHECK(std::exp(tree[i].weight) == doctest::Approx(weights[i]));
    CHECK(tree[i].depth + 1 == static_cast<int>(expected[i].size()));
  }
}

TEST_CASE("best-first tree: nodes are the heaviest of all, parents first, whatever the budget") {
  Rng rng(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<DepthRow> rows(3);
    for (DepthRow& row : rows) {
      std::vector<double> p(4);
      double sum = 0;
      for (double& x : p) sum += x = rng.uniform() + 0.01;
      std::ranges::sort(p, std::ranges::greater());
      for (std::int32_t token = 0; token < 4; ++token)
        row.emplace_back(static_cast<float>(std::log(p[static_cast<std::size_t>(token)] / sum)),
                         token);
    }
    std::vector<double> all;
    const std::function<void(std::size_t, double)> walk = [&](std::size_t depth, double weight) {
      if (depth == rows.size()) return;
      for (const auto& [logprob, token] : rows[depth]) {
        all.push_back(weight + static_cast<double>(logprob));
        walk(depth + 1, all.back());
      }
    };
    walk(0, 0);
    std::ranges::sort(all, std::ranges::greater());
    const std::vector<GrownNode> whole = grow_best_first(rows, 1000, kNever);
    REQUIRE(whole.size() == all.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CHECK(whole[i].weight == doctest::Approx(all[i]).epsilon(1e-6));
      CHECK(whole[i].parent < static_cast<int>(i));
    }
    const std::size_t budget = 1 + static_cast<std::size_t>(rng.uniform() * 40);
    const std::vector<GrownNode> part = grow_best_first(rows, budget, kNever);
    REQUIRE(part.size() == budget);
    for (std::size_t i = 0; i < budget; ++i)
      CHECK(path_of(part, static_cast<int>(i)) == path_of(whole, static_cast<int>(i)));
  }
}

TEST_CASE(
    "best-first tree: it ends below a last token, at the last depth and at impossible tokens") {
  const float never = -std::numeric_limits<float>::infinity();
  const std::vector<DepthRow> rows = {{{-0.1f, 3}, {-2.5f, 4}, {never, 5}},
                                      {{0.0f, 6}, {never, 7}}};
  const auto tree = grow_best_first(rows, 100, [](std::int32_t token) { return token == 3; });
  REQUIRE(tree.size() == 3);
  CHECK(path_of(tree, 0) == std::vector<std::int32_t>{3});
  CHECK(path_of(tree, 1) == std::vector<std::int32_t>{4});
  CHECK(path_of(tree, 2) == std::vector<std::int32_t>{4, 6});
  CHECK(grow_best_first(rows, 0, kNever).empty());
  CHECK(grow_best_first({}, 5, kNever).empty());
}

}  // namespace
}  // namespace triescope::test::test_best_first_tree
