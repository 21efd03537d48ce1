// Where two texts part, for runs made by hand.
#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/viz/captures.h"
#include "viz/query/text_parting.h"

namespace triescope::test::test_text_parting {
namespace {

// A run that emits the given number of tokens in each step; its tree only where `has_tree`.
std::unique_ptr<OpenedCapture> run_of(const std::vector<std::vector<std::int32_t>>& steps,
                                      bool has_tree, std::int32_t prompt_tokens = 3) {
  return make_capture([&](Recorder& out) {
    RowTables rows{.run = synthetic_info(prompt_tokens, "greedy", "", "recycle")};
    std::vector<std::int32_t> tokens;
    if (has_tree) rows.nodes.push_back({});
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto step = static_cast<std::int32_t>(i);
      for (const std::int32_t token : steps[i]) {
        tokens.push_back(token);
        const auto depth = static_cast<std::int32_t>(tokens.size());
        if (has_tree)
          rows.nodes.push_back({.node = depth,
                                .parent = depth - 1,
                                .token = token,
                                .depth = depth,
                                .source = Source::kGreedy,
                                .tick = make_tick(step, Phase::kAccept)});
      }
      const auto last = static_cast<std::int32_t>(tokens.size());
      if (has_tree) rows.frontier.push_back({.step = step, .rank = 0, .node = last});
      rows.steps.push_back({.step = step, .emitted = static_cast<std::int32_t>(steps[i].size())});
      rows.phases.push_back({.tick = make_tick(step, Phase::kObserve)});
    }
    rows.sequences.push_back(
        {.tick = make_tick(static_cast<std::int32_t>(steps.size()) - 1, Phase::kObserve),
         .node = static_cast<std::int32_t>(tokens.size()),
         .rank = 0,
         .finish = "length",
         .tokens = tokens});
    out.write(rows);
  });
}

TEST_CASE("text parting: the first token that differs, and the step of each run that brought it") {
  for (const bool has_tree : {true, false}) {
    CAPTURE(has_tree);
    const auto first = run_of({{1}, {2}, {3}, {4}, {5}}, has_tree);
    const auto second = run_of({{1}, {2, 3}, {9, 5}}, has_tree);
    const viz::TextParting parting = viz::text_parting(*first->capture, *second->capture);
    CHECK(parting.same_prompt);
    CHECK_FALSE(parting.same_text);
    CHECK(parting.tokens == 3);
    CHECK(parting.first_step == 3);
    CHECK(parting.step == 2);
  }
}

TEST_CASE("text parting: the same text in fewer steps is the same, and a shorter one just ends") {
  const auto first = run_of({{1}, {2}, {3}, {4}}, true);
  const auto same = run_of({{1}, {2, 3, 4}}, true), shorter = run_of({{1}, {2}}, true);
  const viz::TextParting equal = viz::text_parting(*first->capture, *same->capture);
  CHECK(equal.same_text);
  CHECK(equal.tokens == 4);
  const viz::TextParting ends = viz::text_parting(*first->capture, *shorter->capture);
  CHECK_FALSE(ends.same_text);
  CHECK(ends.tokens == 2);
  CHECK(ends.step == -1);
  CHECK(ends.first_step == 2);
}

TEST_CASE("text parting: texts of two prompts are not compared") {
  const auto first = run_of({{1}, {2}}, true), other = run_of({{1}, {2}}, true, 4);
  CHECK_FALSE(viz::text_parting(*first->capture, *other->capture).same_prompt);
}

}  // namespace
}  // namespace triescope::test::test_text_parting
