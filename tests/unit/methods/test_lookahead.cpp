// Lookahead decoding.
#include <doctest/doctest.h>

#include <set>

#include "core/methods/text_methods.h"
#include "tests/support/text_loop.h"

namespace triescope::test_lookahead {
namespace {

using test::LoopConfig;
using test::Tokens;

TEST_CASE("lookahead: it writes greedy decoding's text in fewer steps") {
  std::int64_t steps = 0, tokens = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    // The text depends on its last token alone: n-grams found ahead of time come true.
    const auto logits = test::markov_logits(40, 1, 3, seed);
    for (const auto& prompt : {Tokens{5, 6, 7, 8, 5}, Tokens{3}}) {
      for (const int n : {2, 3, 5}) {
        LoopConfig config{.prompt = prompt,
                          .max_new_tokens = 40,
                          .eos = {static_cast<std::int32_t>(seed)},
                          .vocab = 40};
        config.settings = {{"ngram_size", n}, {"window_size", 4}, {"guess_set_size", 3}};
        const auto run = test::run_method(lookahead_method(), config, logits);
        CHECK(run.text == test::plain_greedy(config, logits));
        steps += static_cast<std::int64_t>(run.steps.size());
        tokens += static_cast<std::int64_t>(run.text.size());
      }
    }
  }
  CHECK(tokens * 2 > steps * 3);
}

TEST_CASE("lookahead: it emits the token after a whole accepted n-gram too") {
  // A circle of 4: once the pool knows it, each step accepts N - 1 = 3 tokens and the bonus.
  const auto circle = [](std::span<const std::int32_t> text) {
    std::vector<float> logits(4, 0.0f);
    logits[static_cast<std::size_t>((text.back() + 1) % 4)] = 5;
    return logits;
  };
  LoopConfig config{.prompt = {0, 1, 2, 3, 0, 1, 2, 3}, .max_new_tokens = 41, .vocab = 4};
  config.settings = {{"ngram_size", 4}, {"window_size", 2}, {"guess_set_size", 2}};
  const auto run = test::run_method(lookahead_method(), config, circle);
  CHECK(run.text == test::plain_greedy(config, circle));
  int most = 0;
  for (const auto& step : run.steps)
    most = std::max(most, static_cast<int>(step.result.emitted.size()));
  CHECK(most >= 4);
}

TEST_CASE(
    "the lookahead window is a tree: row 0 a chain, a column below each of its nodes, at their own "
    "positions") {
  const auto logits = test::markov_logits(1000, 3, 3, 1);
  Tokens prompt;
  for (int i = 0; i < 60; ++i) prompt.push_back(100 + i);
  LoopConfig config{.prompt = prompt, .max_new_tokens = 100, .vocab = 1000};
  config.settings = {{"ngram_size", 4}, {"window_size", 5}, {"pool_from_prompt", false}};
  const auto run = test::run_method(lookahead_method(), config, logits);
  // Nothing but the window in the first step: 5 columns of 3 (equal tokens below one node are one
  // node).
  const auto& step = run.steps.at(1);
  CHECK(step.result.drafted <= 15);
  CHECK(step.result.drafted >= 12);
  std::int32_t deepest = 0;
  for (const NodeId node : step.rows) deepest = std::max(deepest, run.tree[node].depth);
  CHECK(deepest == 1 + 5 + 2);  // the pending token's depth, row 0, the last column's other rows
}

TEST_CASE(
    "lookahead: sampled lookahead writes the text of plain sampling with the same seed; caps hold exactly") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto logits = test::markov_logits(12, 1, 4, seed);
    LoopConfig config{.prompt = {1, 2, 3},
                      .max_new_tokens = 1 + static_cast<int>(seed),
                      .vocab = 12,
                      .seed = seed};
    const auto plain = test::run_method(sample_method(), config, logits);
    config.settings["verify"] = "sample";
    CHECK(test::run_method(lookahead_method(), config, logits).text == plain.text);
  }
}

}  // namespace
}  // namespace triescope::test_lookahead
