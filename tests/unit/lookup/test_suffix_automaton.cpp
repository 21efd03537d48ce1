// The suffix automaton, and the method that drafts from it.
#include <doctest/doctest.h>

#include "core/lookup/suffix_automaton.h"
#include "core/methods/text_methods.h"
#include "tests/support/text_loop.h"

namespace triescope {
namespace {

using test::LoopConfig;
using test::Tokens;

// Longest suffix of text[0, size) that ends before its end too, and its latest such end.
SuffixAutomaton::Match brute_force(const Tokens& text, std::int32_t size) {
  SuffixAutomaton::Match best;
  for (std::int32_t end = 1; end < size; ++end) {
    std::int32_t length = 0;
    while (length < end && text[static_cast<std::size_t>(end - 1 - length)] ==
                               text[static_cast<std::size_t>(size - 1 - length)])
      ++length;
    if (length > 0 && length >= best.length) best = {length, end};
  }
  return best;
}

TEST_CASE(
    "suffix automaton: it finds the longest earlier suffix at its latest place, token by token") {
  Rng rng(17);
  for (int round = 0; round < 40; ++round) {
    const unsigned letters = 1 + static_cast<unsigned>(round % 6);
    SuffixAutomaton automaton;
    Tokens text;
    for (std::int32_t i = 0; i < 150; ++i) {
      text.push_back(static_cast<std::int32_t>(rng.next() % letters));
      automaton.append(text.back());
      const auto expected = brute_force(text, i + 1);
      REQUIRE(automaton.match().length == expected.length);
      REQUIRE(automaton.match().end == expected.end);
    }
    CHECK(automaton.states() <= 2 * text.size());
  }
}

TEST_CASE(
    "suffix automaton: suffix_automaton with greedy verification writes greedy decoding's text in fewer steps") {
  std::int64_t steps = 0, tokens = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto logits = test::markov_logits(12, 2, 3, seed);
    for (const auto& prompt : {Tokens{5, 6, 7, 8, 5, 6, 9, 5, 6}, Tokens{3}}) {
      LoopConfig config{.prompt = prompt, .max_new_tokens = 80, .vocab = 12};
      const auto run = test::run_method(suffix_automaton_method(), config, logits);
      CHECK(run.text == test::plain_greedy(config, logits));
      steps += static_cast<std::int64_t>(run.steps.size());
      tokens += static_cast<std::int64_t>(run.text.size());
    }
  }
  CHECK(tokens > 2 * steps);
}

}  // namespace
}  // namespace triescope
