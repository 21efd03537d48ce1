// Speculation with a draft model: greedy decoding's text and sampling's distribution whatever the
// draft model is, KV of the draft model that is right at every node, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/methods/registry.h"
#include "core/methods/text_methods.h"
#include "core/verify/text_acceptor.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test_draft_model {
namespace {

using nlohmann::json;
using test::FakeModel;
using test::FakeOptions;
using test::Rig;
using Tokens = std::vector<std::int32_t>;

const Tokens kPrompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};

FakeOptions target_options(std::uint64_t seed) {
  FakeOptions options;
  options.vocab_size = 14;
  options.seed = seed;
  options.eos_boost = -1;
  if (seed % 2 == 0) options.chain = {5, 6, 7, 8, 9, 5};
  if (seed % 3 == 0) options.quantum = 1;  // many level logits
  return options;
}

// The target itself, one that agrees with it now and then, one that knows fewer tokens, one that
// knows more.
std::vector<FakeOptions> draft_options(std::uint64_t seed) {
  std::vector<FakeOptions> all(4, target_options(seed));
  all[1].seed = seed + 100;
  all[2].seed = seed + 200;
  all[2].vocab_size = 10;
  all[3].seed = seed + 300;
  all[3].vocab_size = 20;
  return all;
}

std::string refusal(Rig& rig, const json& settings) {
  try {
    rig.start("draft_model", settings);
  } catch (const Error& error) {
    const bool of_a_file = std::string(error.what()).starts_with("draft model");
    CHECK(error.code() == (of_a_file ? ErrorCode::kNotSupported : ErrorCode::kInvalidArgument));
    return error.what();
  }
  return "(accepted)";
}

TEST_CASE(
    "draft model: greedy verification equals greedy decoding, chains and trees, every KV policy") {
  std::int64_t forwards = 0, tokens = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Rig plain(target_options(seed), capture::Level::kOff);
    plain.start("greedy", {}, kPrompt, 30).run();
    const auto expected = plain.session->result();
    for (const FakeOptions& draft : draft_options(seed)) {
      for (const char* kv : {"recycle", "compact", "keep"}) {
        for (const json& shape :
             {json{{"num_assistant_tokens", 1}}, json{{"num_assistant_tokens", 5}},
              json{{"expansion", {3, 2, 1}}}, json{{"expansion", {1, 4}}},
              json{{"assistant_confidence_threshold", 0.2}}}) {
          CAPTURE(seed);
          CAPTURE(draft.seed);
          CAPTURE(kv);
          CAPTURE(shape.dump());
          Rig rig(target_options(seed), capture::Level::kOff);
          rig.draft_with(draft);
          json settings = shape;
          settings.update({{"kv", kv}, {"gc_every", 3}});
          rig.start("draft_model", settings, kPrompt, 30).run();
          const auto drafted = rig.session->result();
          REQUIRE(test::tokens_of(drafted) == test::tokens_of(expected));
          CHECK(drafted.sequences[0].finish == expected.sequences[0].finish);
          if (draft.vocab_size >= 14) CHECK(drafted.drafter_cost.forwards > 0);
          forwards += drafted.target_forwards;
          tokens += drafted.emitted_tokens;
        }
      }
    }
  }
  CHECK(tokens > forwards * 3 / 2);
}

TEST_CASE(
    "draft model: the target drafting for itself is always right, and runs every token once") {
  FakeOptions options = target_options(1);
  options.eos_token_ids = {};
  Rig rig(options, capture::Level::kOff);
  rig.draft_with(options);
  rig.start("draft_model", {{"num_assistant_tokens", 4}}, kPrompt, 41).run();
  const auto result = rig.session->result();
  // Prefill gives one token, every step after it four drafts and the token that follows.
  CHECK(result.steps == 9);
  CHECK(result.emitted_tokens == 41);
  CHECK(result.accepted_histogram == std::vector<std::int64_t>{0, 0, 0, 0, 8});
  // A step: the last accepted draft with the bonus token, then three drafts one by one.
  CHECK(result.drafter_cost.forwards == 8 * 4);
  CHECK(result.drafter_cost.forward_rows ==
        static_cast<std::int64_t>(kPrompt.size()) + 1 + 7 * 2 + 8 * 3);
  CHECK(result.drafter_cost.kv_bytes_per_token == 64);
  CHECK(result.drafter_cost.kv_peak_tokens == static_cast<std::int32_t>(kPrompt.size()) + 39);
}

TEST_CASE("draft model: sampling is without loss, chains and trees") {
  constexpr int kVocab = 4, kLength = 4;
  constexpr std::int64_t kDraws = 20000;
  const auto target = test::markov_logits(kVocab, 3, 1.2, 77);
  FakeOptions options;
  options.vocab_size = kVocab;
  options.eos_token_ids = {};
  options.spread = 1;
  options.seed = 5;
  test::LoopConfig config{.max_new_tokens = kLength, .vocab = kVocab, .keep_steps = false};
  for (const json& shape :
       {json{{"num_assistant_tokens", 3}}, json{{"num_assistant_tokens", 2}, {"sampler", "gumbel"}},
        json{{"num_assistant_tokens", 3}, {"assistant_confidence_threshold", 0.3}},
        json{{"expansion", {3, 2}}}, json{{"expansion", {3, 2}}, {"replacement", true}},
        json{{"expansion", {9}}}}) {
    CAPTURE(shape.dump());
    json given = shape;
    given.update({{"verify", "sample"}, {"candidates", 0}});
    config.settings = validate_settings(find_method("draft_model"), given);
    std::map<Tokens, std::int64_t> counts;
    std::int64_t drafts = 0;
    Rng rng(20250101);
    for (std::int64_t i = 0; i < kDraws; ++i) {
      FakeModel draft(options);
      RunContext run = test::run_context(config);
      run.draft_model = &draft;
      MethodParts parts = draft_model_method().make(run);
      const auto loop =
          test::run_loop(config, target, parts.drafter.get(), *parts.acceptor, run, rng);
      ++counts[loop.text];
      for (std::int32_t id = 1; id < loop.tree.size(); ++id)
        drafts += capture::is_drafted(loop.tree[NodeId(id)].source) &&
                  loop.tree[NodeId(id)].status != NodeStatus::kDead;
    }
    const auto chi =
        test::chi_square(test::exact_texts(config.prompt, kLength, target), counts, kDraws);
    CHECK(chi.cells > 100);
    CHECK(chi.value < chi.limit);
    CHECK(drafts > kDraws * kLength / 5);  // drafts did take part
  }
}

TEST_CASE("draft model: its KV holds the text and this step's drafts, no more") {
  Rig rig(target_options(1), capture::Level::kOff);
  FakeOptions other = target_options(1);
  other.seed = 900;  // mostly wrong
  rig.draft_with(other);
  rig.start("draft_model", {{"expansion", {2, 2}}}, kPrompt, 40).run();
  const auto result = rig.session->result();
  // The text, the pending token and the first level: the last level never runs.
  CHECK(result.drafter_cost.kv_peak_tokens <= static_cast<std::int32_t>(kPrompt.size()) + 40 + 2);
}

TEST_CASE("draft model: over 200 steps its storage grows with the text alone") {
  Rig rig(target_options(1), capture::Level::kOff);
  FakeOptions other = target_options(1);
  other.seed = 900;  // mostly wrong: every step leaves drafts behind
  rig.draft_with(other);
  auto& session =
      rig.start("draft_model", {{"expansion", {3, 2, 2}}, {"eos_token_id", {-1}}}, kPrompt, 260);
  while (!session.done() && session.result().steps < 200) session.step();
  const auto result = session.result();
  REQUIRE(result.steps == 200);
  const std::int64_t text = static_cast<std::int64_t>(kPrompt.size()) + result.emitted_tokens;
  // The text and the two levels that run, 3 + 6 nodes; the storage enlarges by half.
  CHECK(result.drafter_cost.kv_peak_tokens <= text + 9);
  CHECK(rig.draft_model->kv->capacity() <= (text + 9) * 3 / 2);
}

TEST_CASE("draft model: its drafts are its own best tokens below every node, level by level") {
  Rig rig(target_options(1));
  FakeOptions other = target_options(1);
  other.seed = 321;
  rig.draft_with(other);
  auto& session = rig.start("draft_model", {{"expansion", {2, 3}}}, kPrompt, 12);
  session.step();  // prefill
  session.advance();
  const TokenTree& tree = session.tree();
  std::vector<NodeId> level = {NodeId(1)};
  for (const int width : {2, 3}) {
    std::vector<NodeId> next;
    for (const NodeId parent : level) {
      Tokens text = kPrompt;
      for (const TokenId token : tree.tokens_to(parent)) text.push_back(token.value);
      const auto logits = rig.draft_model->logits_of(text);
      Tokens order = count_up(logits.size()), drafted;
      std::ranges::stable_sort(order, std::ranges::greater(),
                               [&](std::int32_t t) { return logits[static_cast<std::size_t>(t)]; });
      order.resize(static_cast<std::size_t>(width));
      for (NodeId id = tree[parent].first_child; id.valid(); id = tree[id].next_sibling) {
        drafted.push_back(tree[id].token.value);
        if (tree[id].token.value != 0) next.push_back(id);  // nothing goes below an EOS
      }
      CHECK(drafted == order);
    }
    level = next;
  }
  for (const NodeId id : level) CHECK_FALSE(tree[id].first_child.valid());
}

TEST_CASE("draft model: a shorter context ends the drafting, not the run") {
  Rig plain(target_options(1), capture::Level::kOff);
  plain.start("greedy", {}, kPrompt, 30).run();
  Rig rig(target_options(1), capture::Level::kOff);
  FakeOptions draft = target_options(1);
  draft.context = 20;
  rig.draft_with(draft);
  rig.start("draft_model", {{"num_assistant_tokens", 4}}, kPrompt, 30).run();
  const auto result = rig.session->result();
  CHECK(test::tokens_of(result) == test::tokens_of(plain.session->result()));
  CHECK(result.drafter_cost.kv_peak_tokens <= 20);
}

TEST_CASE("draft model: stopping during its forward ends the run as stopped") {
  Rig rig(target_options(1));
  rig.draft_with(target_options(1));
  auto& session = rig.start("draft_model", {}, kPrompt, 30);
  rig.draft_model->on_layer = [&](int layer) {
    if (rig.draft_model->forwards == 6 && layer == 2) session.request_stop();
  };
  session.run();
  CHECK(session.done());
  CHECK(rig.draft_model->forwards == 6);
  CHECK(session.result().sequences.at(0).finish == "stopped");
}

TEST_CASE("draft model: none, or one of another vocabulary, is refused") {
  Rig rig(target_options(1));
  CHECK(refusal(rig, json::object())
            .starts_with("method draft_model: expected a draft model, a smaller one with the same "
                         "vocabulary; found none"));

  rig.draft_with(target_options(1));
  const Tokens eos = {0};
  struct Other final : test::FakeTokenizer {
    using FakeTokenizer::FakeTokenizer;
    std::string_view piece(std::int32_t id) const override {
      return id == 9 ? "nine" : FakeTokenizer::piece(id);
    }
  };
  rig.draft_tokenizer = std::make_unique<Other>(14, eos);
  CHECK(
      refusal(rig, json::object())
          .find("expected the vocabulary of the model it drafts for; found token 9 to be \"nine\" "
                "instead of \"<9> \"") != std::string::npos);
}

TEST_CASE("draft model: a tree that is too large or has an empty level is refused") {
  Rig rig(target_options(1));
  rig.draft_with(target_options(1));
  CHECK(refusal(rig, {{"expansion", "4,0"}})
            .starts_with("expansion: expected at least 1 child a node at every level; found 0"));
  CHECK(refusal(rig, {{"expansion", "40,40"}})
            .starts_with("expansion: expected at most 1024 draft nodes a step; found 1640 by "
                         "level 2"));
}

}  // namespace
}  // namespace triescope::test_draft_model
