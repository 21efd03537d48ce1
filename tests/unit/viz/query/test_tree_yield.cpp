// What the places of a drafting tree earned, and the best tree, by hand.
#include <doctest/doctest.h>

#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/panels/tree_rows.h"
#include "viz/query/tree_yield.h"

namespace triescope::viz::test_tree_yield {
namespace {

// "1 1/2 1/2": path, accepted of sent, came of reached.
std::string words(const TreeYield& yield) {
  std::string text;
  for (const TreePlaceYield& place : yield.places)
    text += (text.empty() ? "" : ", ") + rank_text(place.path) + " " +
            std::to_string(place.accepted) + "/" + std::to_string(place.sent) + " " +
            std::to_string(place.came) + "/" + std::to_string(place.reached);
  return text;
}

TEST_CASE("tree yield: places of a small run, withdrawn ones too") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const TreeYield yield = tree_yield(run, run.end_tick());
  CHECK(yield.steps == 2);
  CHECK(words(yield) ==
        "1 1/2 1/2, 2 1/2 1/2, 1.1 0/1 1/1, 1.2 0/1 0/1, 2.1 0/2 0/1, 1.1.1 0/0 0/1");
}

TEST_CASE("tree yield: of two ranges it adds up to the whole") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  TreeYield sum = tree_yield(run, run.end_tick(), {{2, 2}});
  add_tree_yield(sum, tree_yield(run, run.end_tick(), {{1, 1}}));
  CHECK(words(sum) == words(tree_yield(run, run.end_tick())));
  CHECK(sum.steps == 2);
}

TEST_CASE("best tree: grows by the largest product, parents first") {
  // 1 comes true in 6 of 10, 2 in 3 of 10, 1.1 in half of those of 1, 1.1.1 in all of those.
  const TreeYield yield{.steps = 10,
                        .places = {{.path = {0}, .reached = 10, .came = 6},
                                   {.path = {1}, .reached = 10, .came = 3},
                                   {.path = {0, 0}, .reached = 6, .came = 3},
                                   {.path = {1, 0}, .reached = 3, .came = 0},
                                   {.path = {0, 0, 0}, .reached = 3, .came = 3}}};
  const auto best = best_tree(yield, 10);
  REQUIRE(best.size() == 4);  // what never comes true is no part of it
  CHECK(tree_setting(best) == "0;1;0,0;0,0,0");
  CHECK(best[0].tokens_per_forward == doctest::Approx(1.6));
  CHECK(best[1].tokens_per_forward == doctest::Approx(1.9));
  CHECK(best[2].comes_true == doctest::Approx(0.3));
  CHECK(best[3].tokens_per_forward == doctest::Approx(2.5));
  CHECK(tree_setting(best_tree(yield, 2)) == "0;1");
}

TEST_CASE("best tree: no other tree of that size promises more") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const TreeYield yield = tree_yield(run, run.end_tick());
  const auto best = best_tree(yield, 3);
  CHECK(tree_setting(best) == "0;1;0,0");
  CHECK(best.back().tokens_per_forward == doctest::Approx(2.5));
  const std::string csv = tree_yield_csv(yield, best);
  CHECK(csv.starts_with(
      "path,tree,sent,accepted,earned,reached,came,share,best,tokens_per_forward\n"
      "1,0,2,1,0.5,2,1,0.5,1,1.5\n2,1,2,1,0.5,2,1,0.5,2,2\n1.1,\"0,0\",1,0,0,1,1,1,3,2.5\n"));
}

}  // namespace
}  // namespace triescope::viz::test_tree_yield
