// The datastore of REST, and the method.
#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/lookup/suffix_array.h"
#include "core/methods/text_methods.h"
#include "tests/support/paths.h"
#include "tests/support/text_loop.h"

namespace triescope {
namespace {

using test::LoopConfig;
using test::Tokens;

constexpr std::int32_t kEnd = -2;

// Frequencies of everything that follows the key within its document, to `depth` tokens.
std::map<Tokens, int> brute_force(const Tokens& text, const Tokens& key, int depth) {
  std::map<Tokens, int> found;
  for (std::size_t at = 0; at + key.size() <= text.size(); ++at) {
    if (!std::equal(key.begin(), key.end(), text.begin() + static_cast<long>(at))) continue;
    Tokens path;
    for (std::size_t i = at + key.size(); i < text.size() && text[i] != kEnd; ++i) {
      if (static_cast<int>(path.size()) == depth) break;
      path.push_back(text[i]);
      ++found[path];
    }
  }
  return found;
}

std::map<Tokens, int> paths(const NgramTrie::Answer& answer) {
  std::map<Tokens, int> out;
  std::vector<Tokens> of;
  for (const auto& node : answer.nodes) {
    Tokens path = node.parent < 0 ? Tokens{} : of[static_cast<std::size_t>(node.parent)];
    path.push_back(node.token);
    CHECK(static_cast<int>(path.size()) == node.depth);
    CHECK(out.emplace(path, node.frequency).second);
    of.push_back(path);
  }
  return out;
}

TEST_CASE("a datastore answers with all that follows the longest suffix, and how often") {
  Rng rng(4);
  for (int round = 0; round < 40; ++round) {
    Tokens text;
    for (int i = 0; i < 200; ++i)
      text.push_back(rng.next() % 15 == 0 ? kEnd : static_cast<std::int32_t>(rng.next() % 3));
    const SuffixArray store(text, kEnd);
    for (int tries = 0; tries < 10; ++tries) {
      Tokens context;
      for (int i = 0; i < 6; ++i) context.push_back(static_cast<std::int32_t>(rng.next() % 3));
      std::map<Tokens, int> expected;
      int matched = 0;
      for (int length = 5; length >= 2 && expected.empty(); --length) {
        expected = brute_force(text, Tokens(context.end() - length, context.end()), 7);
        if (!expected.empty()) matched = length;
      }
      const auto answer = store.continuations(context, 2, 5, 1 << 20, 7);
      CHECK(answer.matched_tokens == matched);
      CHECK(paths(answer) == expected);
      // Pruned: the most frequent ones.
      const auto few = paths(store.continuations(context, 2, 5, 4, 7));
      int rarest = 1 << 30;
      for (const auto& [path, frequency] : few) rarest = std::min(rarest, frequency);
      for (const auto& [path, frequency] : expected)
        if (!few.contains(path)) CHECK(frequency <= rarest);
    }
  }
}

TEST_CASE("long repeats, an empty datastore and a context shorter than the key are no trouble") {
  const SuffixArray same(Tokens(500, 7));
  CHECK(same.continuations(Tokens{7, 7, 7}, 2, 16, 100, 10).nodes.size() == 10);
  CHECK(same.continuations(Tokens{7}, 2, 16, 100, 10).nodes.empty());
  CHECK(SuffixArray({}).continuations(Tokens{1, 2}, 1, 16, 100, 10).nodes.empty());
}

std::vector<std::int32_t> letters(std::string_view text) {
  Tokens ids;
  for (const char c : text)
    if (c >= 'a' && c <= 'z') ids.push_back(c - 'a');
  return ids;
}

TEST_CASE("rest drafts from the user's file and leaves greedy decoding's text as it is") {
  const test::TempDir dir;
  const auto path = (dir.path() / "store.txt").string();
  std::int64_t forwards = 0, tokens = 0, accepted = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto logits = test::markov_logits(12, 2, 3, seed);
    LoopConfig config{.prompt = {1, 2}, .max_new_tokens = 60, .vocab = 12};
    const auto plain = test::plain_greedy(config, logits);
    {
      // The text that will be written, in two overlapping documents, and one that has nothing to do
      // with it.
      std::ofstream file(path);
      file << "bc";
      for (std::size_t i = 0; i < 40; ++i) file << static_cast<char>('a' + plain[i]);
      file << "\n<|endoftext|>\nabcabcabc\n<|endoftext|>\n";
      for (std::size_t i = 30; i < 60; ++i) file << static_cast<char>('a' + plain[i]);
    }
    config.settings = {{"datastore", path}};
    RunContext run = test::run_context(config, rest_method());
    run.encode = letters;
    auto parts = rest_method().make(run);
    Rng rng(1);
    const auto loop =
        test::run_loop(config, logits, parts.drafter.get(), *parts.acceptor, run, rng);
    CHECK(loop.text == plain);
    forwards += static_cast<std::int64_t>(loop.steps.size());
    tokens += static_cast<std::int64_t>(loop.text.size());
    for (const auto& step : loop.steps) accepted += step.result.accepted;
  }
  CHECK(accepted > 0);
  CHECK(tokens > 4 * forwards);
}

TEST_CASE("a datastore that is not there is an error that names it; none at all drafts nothing") {
  LoopConfig config{.vocab = 5, .settings = {{"datastore", "/no/such/file.txt"}}};
  RunContext run = test::run_context(config, rest_method());
  run.encode = letters;
  try {
    rest_method().make(run);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kNotFound);
    CHECK(std::string(error.what()).find("/no/such/file.txt") != std::string::npos);
  }
  const auto logits = test::markov_logits(12, 2, 3, 1);
  LoopConfig without{.max_new_tokens = 10, .vocab = 12};
  const auto loop = test::run_method(rest_method(), without, logits);
  CHECK(loop.text == test::plain_greedy(without, logits));
  CHECK(loop.steps.size() == 10);
}

}  // namespace
}  // namespace triescope
