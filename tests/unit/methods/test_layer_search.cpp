// The search for layers to leave out: which lists it tries, which it keeps, when it ends.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/methods/layer_search.h"
#include "tests/support/refusal.h"

namespace triescope::test::test_layer_search {
namespace {

using Layers = std::vector<std::int32_t>;

const Layers kFirst = {4, 5, 6, 7};  // layers 2 and 3

// A made-up model: every part has a weight that is missed where the part is left out.
double figure_of(const Layers& left_out) {
  double missed = 0;
  for (const std::int32_t part : left_out) missed += part % 5 == 2 ? 0.01 : 0.2;
  return 1 - missed;
}

TEST_CASE(
    "layer search: lists have the size of the first, ascend, and leave the ends of the model alone") {
  LayerSearch search(12, kFirst, 7);
  CHECK(search.next() == kFirst);
  std::set<Layers> seen;
  for (int i = 0; i < 120; ++i) {
    const Layers list = search.next();
    CAPTURE(i);
    CHECK(list.size() == 4);
    CHECK(std::ranges::adjacent_find(list, std::ranges::greater_equal()) == list.end());
    CHECK(list.front() >= 2);
    CHECK(list.back() <= 21);
    seen.insert(list);
    search.report(list, 0.5);
  }
  CHECK(seen.size() > 100);  // of 4845
}

TEST_CASE("layer search: a first list with the ends of the model leads to lists without them") {
  const Layers ends = {0, 1, 6, 7};  // of four layers
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LayerSearch search(4, ends, seed);
    CHECK(search.next() == ends);
    search.report(ends, 0.5);
    for (int i = 0; i < 60; ++i) {
      const Layers list = search.next();
      CHECK(list.front() >= 2);
      CHECK(list.back() <= 5);
      search.report(list, 0.4);
    }
  }
}

TEST_CASE("layer search: the best list is the first of the best figure so far") {
  LayerSearch search(12, kFirst, 7);
  CHECK(search.best() == kFirst);
  CHECK(search.best_figure() == -1);
  CHECK(search.report(kFirst, 0.4));
  CHECK_FALSE(search.report({1, 2, 3, 4}, 0.4));
  CHECK(search.best() == kFirst);
  CHECK(search.report({1, 2, 3, 8}, 0.41));
  CHECK(search.best() == Layers{1, 2, 3, 8});
  CHECK(search.best_figure() == 0.41);
  CHECK(search.tries() == 3);
}

TEST_CASE("layer search: it ends where a list is good enough, in vain, or after so many tries") {
  LayerSearch good(12, kFirst, 1);
  good.report(kFirst, 0.94);
  CHECK_FALSE(good.done());
  good.report({1, 2, 3, 4}, LayerSearch::kGoodEnough);
  CHECK(good.done());
  LayerSearch vain(12, kFirst, 1);
  for (int i = 0; i <= LayerSearch::kPatience; ++i) {
    CHECK_FALSE(vain.done());
    vain.report(kFirst, 0.2);
  }
  CHECK(vain.done());
  LayerSearch slow(12, kFirst, 1);
  for (int i = 0; i < LayerSearch::kMostTries; ++i) {
    CHECK_FALSE(slow.done());
    slow.report(kFirst, i * 1e-4);
  }
  CHECK(slow.done());
}

TEST_CASE("layer search: the same seed and figures give the same lists, another seed others") {
  const auto lists = [](std::uint64_t seed) {
    LayerSearch search(12, kFirst, seed);
    std::vector<Layers> all;
    for (int i = 0; i < 60; ++i) {
      all.push_back(search.next());
      search.report(all.back(), figure_of(all.back()));
    }
    return all;
  };
  CHECK(lists(3) == lists(3));
  CHECK(lists(3) != lists(4));
}

// Of 46 parts, 4 left out: 163,185 lists, of which 300 at random reach the best few hardly ever.
TEST_CASE(
    "layer search: lists that the Gaussian process proposes are better than those at random") {
  double proposed = 0, at_random = 0;
  int of_process = 0, of_chance = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    LayerSearch search(25, {20, 21, 23, 24}, seed);
    for (int i = 0; i < 300; ++i) {
      const Layers list = search.next();
      const double figure = figure_of(list);
      if (i >= 50) {
        const bool by_process = i % LayerSearch::kBayesEvery == 0;
        (by_process ? proposed : at_random) += figure;
        ++(by_process ? of_process : of_chance);
      }
      search.report(list, figure);
    }
  }
  CHECK(of_process == 40);
  CHECK(proposed / of_process > at_random / of_chance + 0.15);
}

TEST_CASE(
    "layer search: it refuses a model without a middle, and more layers than the middle has") {
  const auto why = [](int layers, Layers first) {
    return refusal(ErrorCode::kInvalidArgument, [&] { LayerSearch(layers, std::move(first), 1); });
  };
  CHECK(
      why(2, {1}) ==
      "skip_search: expected 1 to 0 parts of 2 layers to leave out, two a layer, and the first and the last layer stay; found 1");
  CHECK(
      why(4, {2, 3, 4, 5, 6}) ==
      "skip_search: expected 1 to 4 parts of 4 layers to leave out, two a layer, and the first and the last layer stay; found 5");
  CHECK(why(4, {}).ends_with("found 0"));
}

}  // namespace
}  // namespace triescope::test::test_layer_search
