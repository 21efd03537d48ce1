// The n-gram trie, and the method that drafts from it.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/error.h"
#include "core/lookup/ngram_trie.h"
#include "core/methods/text_methods.h"
#include "tests/support/text_loop.h"

namespace triescope {
namespace {

using test::LoopConfig;
using test::Tokens;

// Path of tokens from the context to every node of an answer, with its frequency.
std::map<Tokens, int> paths(const NgramTrie::Answer& answer) {
  std::map<Tokens, int> out;
  std::vector<Tokens> of;
  for (const auto& node : answer.nodes) {
    Tokens path = node.parent < 0 ? Tokens{} : of[static_cast<std::size_t>(node.parent)];
    path.push_back(node.token);
    CHECK(static_cast<std::int32_t>(path.size()) == node.depth);
    CHECK(out.emplace(path, node.frequency).second);  // no path twice
    of.push_back(std::move(path));
  }
  return out;
}

// The same answer by brute force over all windows.
std::map<Tokens, int> brute_force(const Tokens& text, const Tokens& context, int n,
                                  int prefix_length, bool tail, int* matched) {
  for (int length = std::min<int>(prefix_length, static_cast<int>(context.size())); length >= 1;
       --length) {
    const Tokens key(context.end() - length, context.end());
    std::map<Tokens, int> found;
    for (std::size_t start = 0; start < text.size(); ++start) {
      const std::size_t end = std::min(text.size(), start + static_cast<std::size_t>(n));
      if (!tail && end - start < static_cast<std::size_t>(n)) continue;
      if (end - start <= key.size() ||
          !std::equal(key.begin(), key.end(), text.begin() + static_cast<long>(start)))
        continue;
      for (std::size_t stop = start + key.size() + 1; stop <= end; ++stop)
        ++found[Tokens(text.begin() + static_cast<long>(start + key.size()),
                       text.begin() + static_cast<long>(stop))];
    }
    if (!found.empty()) {
      *matched = length;
      return found;
    }
  }
  *matched = 0;
  return {};
}

TEST_CASE(
    "ngram trie: the n-gram trie holds exactly the windows of the text, with their frequencies") {
  Rng rng(3);
  for (int round = 0; round < 60; ++round) {
    const int n = 2 + static_cast<int>(rng.next() % 6);
    const int prefix_length = 1 + static_cast<int>(rng.next() % static_cast<unsigned>(n - 1));
    const bool tail = rng.next() % 2 == 0;
    Tokens text;
    for (int i = 0; i < 80; ++i) text.push_back(static_cast<std::int32_t>(rng.next() % 4));
    NgramTrie trie(n, prefix_length, tail);
    trie.append(text);
    for (std::size_t at = 1; at < text.size(); at += 7) {
      const Tokens context(text.begin(), text.begin() + static_cast<long>(at));
      int matched = 0;
      const auto expected = brute_force(text, context, n, prefix_length, tail, &matched);
      const auto answer = trie.continuations(context, 1 << 20, 1 << 20);
      CHECK(answer.matched_tokens == matched);
      CHECK(paths(answer) == expected);
    }
  }
}

TEST_CASE("ngram trie: a text appended piece by piece gives the same trie as all at once") {
  Tokens text;
  Rng rng(5);
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<std::int32_t>(rng.next() % 6));
  NgramTrie whole(7, 3), pieces(7, 3);
  whole.append(text);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = std::min<std::size_t>(1 + rng.next() % 5, text.size() - i);
    pieces.append(std::span<const std::int32_t>(text).subspan(i, size));
    i += size;
  }
  CHECK(whole.nodes() == pieces.nodes());
  CHECK(paths(whole.continuations(text, 1000, 100)) ==
        paths(pieces.continuations(text, 1000, 100)));
}

TEST_CASE(
    "ngram trie: pruning keeps the most frequent nodes and their ancestors, the same ones every time") {
  Rng rng(8);
  Tokens text;
  for (int i = 0; i < 400; ++i) text.push_back(static_cast<std::int32_t>(rng.next() % 5));
  NgramTrie trie(8, 2);
  trie.append(text);
  const auto all = trie.continuations(text, 1 << 20, 100);
  for (const int limit : {1, 3, 8, 33}) {
    const auto some = trie.continuations(text, limit, 100);
    REQUIRE(some.nodes.size() == std::min(all.nodes.size(), static_cast<std::size_t>(limit)));
    const auto kept = paths(some);  // also: parents come first
    int rarest_kept = 1 << 30;
    for (const auto& [path, frequency] : kept) rarest_kept = std::min(rarest_kept, frequency);
    for (const auto& [path, frequency] : paths(all))
      if (!kept.contains(path)) CHECK(frequency <= rarest_kept);
    CHECK(paths(trie.continuations(text, limit, 100)) == kept);
  }
}

TEST_CASE("ngram trie: seven disjoint continuations do not cut each other down to a common depth") {
  // The published cut takes all paths to the depth at which they fit: 4 levels of 7 for 32 nodes.
  Tokens text;
  std::int32_t fresh = 100;
  for (int hit = 0; hit < 7; ++hit) {
    text.insert(text.end(), {1, 2, 3});
    for (int i = 0; i < 10; ++i) text.push_back(fresh++);
  }
  text.insert(text.end(), {1, 2, 3});
  NgramTrie trie(13, 3);
  trie.append(text);
  const auto answer = trie.continuations(text, 32, 100);
  CHECK(answer.nodes.size() == 32);
  int deepest = 0;
  for (const auto& node : answer.nodes) deepest = std::max(deepest, node.depth);
  CHECK(deepest == 10);
  CHECK(answer.nodes[0].token == 160);  // ties go to the one seen last
}

TEST_CASE("ngram trie: drafts go no deeper than asked and stop at an EOS") {
  const Tokens text = {1, 2, 3, 4, 9, 5, 6, 1};
  NgramTrie trie(8, 3);
  trie.append(text);
  CHECK(paths(trie.continuations(text, 10, 2)).size() == 2);
  const auto cut = paths(trie.continuations(text, 10, 10, Tokens{9}));
  CHECK(cut == std::map<Tokens, int>{{{2}, 1}, {{2, 3}, 1}, {{2, 3, 4}, 1}, {{2, 3, 4, 9}, 1}});
  CHECK(trie.continuations(text, 10, 0).nodes.empty());
}

TEST_CASE("ngram trie: n must be larger than the prefix length") {
  CHECK_THROWS_AS(NgramTrie(3, 3), Error);
  CHECK_THROWS_AS(NgramTrie(3, 0), Error);
  CHECK_NOTHROW(NgramTrie(2, 1));
  LoopConfig config{.vocab = 5, .settings = {{"ngram_size", 4}, {"prefix_length", 4}}};
  const auto run = test::run_context(config, ngram_trie_method());
  CHECK_THROWS_AS(ngram_trie_method().make(run), Error);
}

std::int64_t drafted(const test::LoopRun& run) {
  std::int64_t sum = 0;
  for (const auto& step : run.steps) sum += step.result.drafted;
  return sum;
}
std::int64_t accepted(const test::LoopRun& run) {
  std::int64_t sum = 0;
  for (const auto& step : run.steps) sum += step.result.accepted;
  return sum;
}

TEST_CASE(
    "ngram trie: ngram_trie with greedy verification writes greedy decoding's text in fewer steps") {
  std::int64_t steps = 0, tokens = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto logits = test::markov_logits(12, 2, 3, seed);
    for (const bool generated : {true, false}) {
      for (const bool tail : {true, false}) {
        LoopConfig config{.prompt = {5, 6, 7, 8, 5, 6, 9, 5, 6},
                          .max_new_tokens = 80,
                          .eos = {static_cast<std::int32_t>(seed % 90)},
                          .vocab = 12};
        config.settings = {{"index_generated", generated}, {"index_tail", tail}, {"num_draft", 16}};
        const auto run = test::run_method(ngram_trie_method(), config, logits);
        CHECK(run.text == test::plain_greedy(config, logits));
        if (generated && tail) {
          steps += static_cast<std::int64_t>(run.steps.size());
          tokens += static_cast<std::int64_t>(run.text.size());
        }
      }
    }
  }
  CHECK(tokens > 2 * steps);  // these texts run into cycles, which generated n-grams draft
}

TEST_CASE(
    "trap: drafts are never padded; the forward has the pending node and the drafts, nothing "
    "else") {
  // Token 0 is a real token here, and the one that a padded draft would wrongly accept.
  const auto logits = [](std::span<const std::int32_t>) { return std::vector<float>{5, 1, 1, 1}; };
  LoopConfig config{
      .prompt = {1, 2, 3}, .max_new_tokens = 12, .vocab = 4, .settings = {{"num_draft", 8}}};
  const auto run = test::run_method(ngram_trie_method(), config, logits);
  CHECK(run.text == Tokens(12, 0));
  for (const auto& step : run.steps)
    CHECK(step.rows.size() == 1 + static_cast<std::size_t>(step.result.drafted));
  // Nothing in the prompt follows a 0: the first step has no draft at all.
  CHECK(run.steps[1].result.drafted == 0);
}

TEST_CASE("trap: a prompt shorter than the prefix length works") {
  for (const auto& prompt : {Tokens{2}, Tokens{2, 2}, Tokens{1, 2}}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto logits = test::markov_logits(6, 1, 2, seed);
      LoopConfig config{.prompt = prompt, .max_new_tokens = 30, .vocab = 6};
      CHECK(test::run_method(ngram_trie_method(), config, logits).text ==
            test::plain_greedy(config, logits));
    }
  }
}

TEST_CASE("trap: the length cap holds exactly, wherever it falls in an accepted run") {
  const auto logits = test::markov_logits(6, 1, 2, 4);
  for (int cap = 1; cap <= 24; ++cap) {
    LoopConfig config{.prompt = {1, 2, 3, 4, 5, 1}, .max_new_tokens = cap, .vocab = 6};
    const auto run = test::run_method(ngram_trie_method(), config, logits);
    CHECK(static_cast<int>(run.text.size()) == cap);
    CHECK(run.finish == "length");
    // No draft beyond the last position that can still be emitted before the bonus.
    for (std::int32_t id = 0; id < run.tree.size(); ++id) CHECK(run.tree[NodeId(id)].depth <= cap);
  }
}

TEST_CASE(
    "ngram trie: without a number of drafts told, they fill the forward that the device does cheaply") {
  // Everything was followed by everything: more continuations than any budget.
  Tokens prompt;
  for (std::int32_t a = 1; a < 24; ++a)
    for (std::int32_t b = 1; b < 24; ++b) prompt.insert(prompt.end(), {a, b});
  for (const auto& [cheap_rows, told, expected] :
       {std::tuple{12, 0, 11}, std::tuple{33, 0, 32}, std::tuple{12, 20, 20}}) {
    LoopConfig config{.prompt = prompt, .max_new_tokens = 30, .vocab = 24};
    config.settings = {{"num_draft", told}};
    config.cheap_rows = cheap_rows;
    const auto run =
        test::run_method(ngram_trie_method(), config, test::markov_logits(24, 2, 3, 1));
    // Without a number that is how a run begins; later as many as pay, at most 32 (DraftBudget).
    std::int32_t most = 0;
    for (const auto& step : run.steps) most = std::max(most, step.result.drafted);
    if (expected == 11) {
      CHECK(run.steps.at(1).result.drafted == expected);
      CHECK(most <= 32);
    } else {
      CHECK(most == expected);
    }
  }
}

TEST_CASE("ngram trie: drafting from the prompt alone ignores what was generated") {
  // The model repeats 7 without end; the prompt has no 7, so only generated n-grams can draft it.
  const auto logits = [](std::span<const std::int32_t>) {
    return std::vector<float>{0, 0, 0, 0, 0, 0, 0, 9};
  };
  LoopConfig config{.prompt = {1, 2, 3}, .max_new_tokens = 40, .vocab = 8};
  config.settings = {{"index_generated", false}};
  CHECK(drafted(test::run_method(ngram_trie_method(), config, logits)) == 0);
  config.settings = {{"index_generated", true}};
  const auto run = test::run_method(ngram_trie_method(), config, logits);
  CHECK(accepted(run) > 20);
  CHECK(run.text == Tokens(40, 7));
}

}  // namespace
}  // namespace triescope
