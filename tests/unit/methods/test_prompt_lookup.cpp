// Prompt lookup.
#include <doctest/doctest.h>

#include "core/base/count_up.h"
#include "core/methods/text_methods.h"
#include "tests/support/text_loop.h"

namespace triescope::test_prompt_lookup {
namespace {

using test::LoopConfig;
using test::Tokens;

// The drafts hung after the text `prompt`, whose last token is the pending one.
Tokens drafts_after(Tokens text, nlohmann::json settings, int room = 100, Tokens eos = {},
                    int cheap_rows = 33) {
  LoopConfig config{.prompt = Tokens(text.begin(), text.end() - 1),
                    .max_new_tokens = 1000,
                    .eos = std::move(eos)};
  config.vocab = 100;
  config.cheap_rows = cheap_rows;
  if (!settings.is_null()) config.settings = std::move(settings);
  const auto run = test::run_context(config, prompt_lookup_method());
  auto parts = prompt_lookup_method().make(run);
  TokenTree tree(static_cast<std::int32_t>(config.prompt.size()));
  const NodeId pending =
      tree.hang(TokenTree::root(), TokenId(text.back()), capture::Source::kGreedy, -1).node;
  const std::vector<NodeId> frontier{pending};
  Rng rng(1);
  DraftContext context{tree, frontier, run, rng, room};
  Tokens out;
  NodeId parent = pending;
  for (const NodeId node : parts.drafter->draft(context).sent) {
    CHECK(tree[node].parent == parent);  // a chain
    CHECK(tree[node].source == capture::Source::kDraft);
    out.push_back(tree[node].token.value);
    parent = node;
  }
  return out;
}

TEST_CASE("prompt lookup: it copies what followed the longest suffix") {
  // 3 4 5 -> 6 beats 4 5 -> 8 and 5 -> 9, though those stand later.
  const Tokens text = {3, 4, 5, 6, 7, 4, 5, 8, 5, 9, 3, 4, 5};
  CHECK(drafts_after(text, {{"prompt_lookup_num_tokens", 2}}) == Tokens{6, 7});
  CHECK(drafts_after(text, {{"prompt_lookup_num_tokens", 2}, {"max_matching_ngram_size", 2}}) ==
        Tokens{8, 5});
  CHECK(drafts_after(text, {{"prompt_lookup_num_tokens", 1}, {"max_matching_ngram_size", 1}}) ==
        Tokens{9});
}

TEST_CASE("prompt lookup: it drafts ten tokens by default, fewer where rows are dear") {
  // 1 .. 40, then 1: what followed is 2, 3, ...
  Tokens text = count_up(40, 1);
  text.push_back(1);
  const auto drafted = [&](int told, int cheap_rows) {
    return drafts_after(text, {{"prompt_lookup_num_tokens", told}}, 100, {}, cheap_rows).size();
  };
  CHECK(drafted(0, 33) == 10);
  CHECK(drafted(0, 12) == 10);
  CHECK(drafted(0, 8) == 7);
  CHECK(drafted(0, 5) == 4);
  CHECK(drafted(0, 1) == 1);
  CHECK(drafted(10, 5) == 10);
}

TEST_CASE("prompt lookup: it takes the latest match, or the first as transformers does") {
  const Tokens text = {1, 2, 10, 11, 1, 2, 20, 21, 1, 2};
  CHECK(drafts_after(text, {{"prompt_lookup_num_tokens", 2}}) == Tokens{20, 21});
  CHECK(drafts_after(text, {{"prompt_lookup_num_tokens", 2}, {"match", "first"}}) ==
        Tokens{10, 11});
}

TEST_CASE(
    "prompt lookup: a match near the tail counts with what there is, and no match drafts nothing") {
  CHECK(drafts_after({7, 7}, {}) == Tokens{7});
  CHECK(drafts_after({1, 5, 9, 5}, {}) == Tokens{9, 5});
  CHECK(drafts_after({1, 2, 3, 4}, {}).empty());
  CHECK(drafts_after({4, 4, 4, 4}, {{"match", "first"}}) == Tokens{4});
}

TEST_CASE("prompt lookup: lookup drafts stop at an EOS and at the room there is") {
  const Tokens text = {1, 2, 3, 4, 5, 6, 1};
  CHECK(drafts_after(text, {}, 100, {4}) == Tokens{2, 3, 4});
  CHECK(drafts_after(text, {}, 2) == Tokens{2, 3});
  CHECK(drafts_after(text, {}, 0).empty());
}

TEST_CASE(
    "prompt lookup: prompt_lookup with greedy verification writes greedy decoding's text in fewer steps") {
  std::int64_t steps = 0, tokens = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto logits = test::markov_logits(12, 2, 3, seed);
    for (const auto& prompt : {Tokens{5, 6, 7, 8, 5, 6, 9, 5, 6}, Tokens{3}}) {
      LoopConfig config{.prompt = prompt, .max_new_tokens = 80, .vocab = 12};
      const auto run = test::run_method(prompt_lookup_method(), config, logits);
      CHECK(run.text == test::plain_greedy(config, logits));
      steps += static_cast<std::int64_t>(run.steps.size());
      tokens += static_cast<std::int64_t>(run.text.size());
    }
  }
  CHECK(tokens > 2 * steps);
}

TEST_CASE("trap: a cap inside a looked-up run holds exactly") {
  const auto logits = test::markov_logits(6, 1, 2, 4);
  for (int cap = 1; cap <= 24; ++cap) {
    LoopConfig config{.prompt = {1, 2, 3, 4, 5, 1}, .max_new_tokens = cap, .vocab = 6};
    CHECK(static_cast<int>(test::run_method(prompt_lookup_method(), config, logits).text.size()) ==
          cap);
  }
}

}  // namespace
}  // namespace triescope::test_prompt_lookup
