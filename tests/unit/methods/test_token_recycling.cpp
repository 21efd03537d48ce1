// Token recycling's drafts, token by token: what the table holds after every row, and the tree of it.
#include <doctest/doctest.h>

#include "core/methods/text_methods.h"
#include "tests/support/draft_rig.h"

namespace triescope::test_token_recycling {
namespace {

using test::DraftRig;
using test::LoopConfig;
using test::Tokens;
using Paths = std::vector<Tokens>;

constexpr int kVocab = 20;

// After a text that ends with t the best tokens are t+1, t+2, t+3, … modulo the vocabulary.
std::vector<float> rising(std::span<const std::int32_t> text) {
  std::vector<float> logits(kVocab);
  for (int rank = 0; rank < kVocab; ++rank)
    logits[static_cast<std::size_t>((text.back() + 1 + rank) % kVocab)] = static_cast<float>(-rank);
  return logits;
}

nlohmann::json tree(const char* paths, bool from_prompt = false) {
  return {{"tree", paths}, {"table_from_prompt", from_prompt}};
}

TEST_CASE("token recycling: it drafts the best tokens of the newest row that read a token") {
  DraftRig rig(token_recycling_method(), {1, 2, 3}, tree("0;1;0,0;0,1;1,0;0,0,0"),
               {.vocab = kVocab});
  CHECK(rig.draft().empty());  // the table is empty
  rig.read(rising);            // the row of 3: 4 5 6 …
  rig.write({7, 3});
  // Nothing is known of 4 or 5, so nothing hangs below them.
  CHECK(rig.draft() == Paths{{4}, {5}});
  rig.read(rising);  // the rows of 3, and of the drafts 4 and 5, which did not come true
  rig.write({9, 3});
  CHECK(rig.draft() == Paths{{4}, {5}, {4, 5}, {4, 6}, {5, 6}, {4, 5, 6}});
  for (const NodeId node : rig.drafts.sent) CHECK(rig.tree[node].source == capture::Source::kDraft);
  // Another row of 3 replaces what was known of it, whole.
  rig.read([](std::span<const std::int32_t> text) {
    std::vector<float> logits = rising(text);
    if (text.back() == 3) logits[11] = 9;
    return logits;
  });
  rig.write({3});
  CHECK(rig.draft() == Paths{{11}, {4}, {4, 5}});
}

TEST_CASE("token recycling: of several rows that read one token the last of the forward counts") {
  DraftRig rig(token_recycling_method(), {1, 2, 3}, tree("0;0,0;0,0,0"), {.vocab = kVocab});
  const auto counting = [](std::span<const std::int32_t> text) {
    std::vector<float> logits(kVocab, 0);
    // After 3: 3 itself, while the text has fewer than 5 tokens; then 8.
    logits[text.size() < 5 ? 3 : 8] = 1;
    return logits;
  };
  rig.read(counting);
  rig.write({3});
  CHECK(rig.draft() == Paths{{3}, {3, 3}, {3, 3, 3}});
  rig.read(counting);  // the rows stand after 4, 5, 6 and 7 tokens
  rig.write({3});
  CHECK(rig.draft() == Paths{{8}});
}

TEST_CASE(
    "token recycling: what followed a token in the prompt is known at the start, the latest first") {
  const Tokens text = {1, 2, 1, 3, 1, 2, 4, 1};  // the prompt, then 1 pending
  DraftRig rig(token_recycling_method(), text, tree("0;1;0,0;1,0", true), {.vocab = kVocab});
  CHECK(rig.draft() == Paths{{2}, {3}, {2, 4}, {3, 1}});
  CHECK(DraftRig(token_recycling_method(), text, tree("0;1;0,0;1,0"), {.vocab = kVocab})
            .draft()
            .empty());
  // A row replaces it.
  rig.read(rising);
  rig.write({5, 1});
  CHECK(rig.draft().front() == Tokens{2});
  CHECK(rig.draft(1) == Paths{});  // they hang there already
  rig.write({1});
  CHECK(rig.draft(1) == Paths{{2}, {3}});
}

TEST_CASE(
    "token recycling: it keeps the room, ends at an EOS, and draws as many levels as the tree has") {
  DraftRig rig(token_recycling_method(), {2, 3, 4, 5, 6, 2}, tree("0;0,0;0,0,0;0,0,0,0", true),
               {.eos = {6}, .vocab = kVocab});
  CHECK(rig.draft(0).empty());
  CHECK(rig.draft(2) == Paths{{3}, {3, 4}});
  rig.write({2});
  CHECK(rig.draft(9) == Paths{{3}, {3, 4}, {3, 4, 5}, {3, 4, 5, 6}});
  // Below an EOS nothing is drafted, though the prompt went on there.
  DraftRig ended(token_recycling_method(), {2, 3, 4, 2}, tree("0;0,0;0,0,0", true),
                 {.eos = {3}, .vocab = kVocab});
  CHECK(ended.draft(9) == Paths{{3}});
}

TEST_CASE("token recycling: a table of few successors still has as many as the tree has ranks") {
  nlohmann::json settings = tree("0;3");
  settings["successors"] = 1;
  DraftRig rig(token_recycling_method(), {1, 2}, settings, {.vocab = kVocab});
  rig.read(rising);
  rig.write({2});
  CHECK(rig.draft() == Paths{{3}, {6}});
}

TEST_CASE("token recycling: by default as many of its 80 nodes as fill a cheap forward") {
  const auto drafted = [](int cheap_rows) {
    Tokens text(30, 1);
    DraftRig rig(token_recycling_method(), text, {{"table_from_prompt", false}},
                 {.vocab = kVocab, .cheap_rows = cheap_rows});
    for (std::int32_t token = 0; token < kVocab; ++token) {
      rig.write({token});
      rig.read(rising);
    }
    rig.write({1});
    return rig.draft().size();
  };
  CHECK(drafted(5) == 4);
  CHECK(drafted(33) == 32);
  CHECK(drafted(1000) == 80);
}

TEST_CASE("token recycling: it writes greedy decoding's text in fewer steps where tokens repeat") {
  std::int64_t steps = 0, tokens = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto logits = test::markov_logits(12, 1, 3, seed);
    LoopConfig config{.prompt = {5, 6}, .max_new_tokens = 60, .vocab = 12};
    const auto run = test::run_method(token_recycling_method(), config, logits);
    CHECK(run.text == test::plain_greedy(config, logits));
    steps += static_cast<std::int64_t>(run.steps.size());
    tokens += static_cast<std::int64_t>(run.text.size());
  }
  CHECK(tokens > 2 * steps);
}

}  // namespace
}  // namespace triescope::test_token_recycling
