// Several frontier nodes that draft at once, verified in one forward: speculative beam search and a
// forest of texts, with a fake drafter.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/count_up.h"
#include "core/methods/registry.h"
#include "core/verify/beam.h"
#include "core/verify/text_acceptor.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_forest {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

std::vector<std::int32_t> text_of(const TokenTree& tree, std::span<const std::int32_t> prompt,
                                  NodeId node) {
  std::vector<std::int32_t> text(prompt.begin(), prompt.end());
  for (const TokenId token : tree.tokens_to(node)) text.push_back(token.value);
  return text;
}

// Hangs the model's `width` best tokens below every frontier node and every draft, `levels` deep;
// what a level holds beyond `sent` nodes is withdrawn.
class OracleDrafter final : public Drafter {
 public:
  OracleDrafter(const FakeModel& model, std::size_t width, int levels,
                std::size_t sent = std::numeric_limits<std::size_t>::max())
      : model_(model), width_(width), levels_(levels), sent_(sent) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    std::vector<NodeId> level(context.frontier.begin(), context.frontier.end());
    for (int i = 0; i < std::min(levels_, context.room); ++i) {
      std::vector<NodeId> next;
      for (const NodeId parent : level) {
        const auto logits = model_.logits_of(text_of(context.tree, context.run.prompt, parent));
        std::vector<std::int32_t> best = count_up(logits.size());
        std::ranges::stable_sort(best, std::ranges::greater(), [&](std::int32_t token) {
          return logits[static_cast<std::size_t>(token)];
        });
        for (std::size_t k = 0; k < width_; ++k)
          next.push_back(
              context.tree.hang(parent, TokenId(best[k]), capture::Source::kDraft, kUnknown).node);
      }
      const std::size_t kept = std::min(next.size(), sent_);
      drafts.sent.insert(drafts.sent.end(), next.begin(), next.begin() + static_cast<long>(kept));
      drafts.withdrawn.insert(drafts.withdrawn.end(), next.begin() + static_cast<long>(kept),
                              next.end());
      next.resize(kept);
      level = next;
    }
    return drafts;
  }

 private:
  const FakeModel& model_;
  std::size_t width_;
  int levels_;
  std::size_t sent_;
};

MethodInfo drafting_beams(const FakeModel& model, std::size_t width, int levels,
                          std::size_t sent = std::numeric_limits<std::size_t>::max()) {
  MethodInfo info = find_method("beam");
  info.kv_policies = {KvPolicyKind::kRecycle, KvPolicyKind::kCompact, KvPolicyKind::kKeep};
  info.make = [&model, width, levels, sent](const RunContext& run) {
    return MethodParts{std::make_unique<OracleDrafter>(model, width, levels, sent),
                       std::make_unique<BeamAcceptor>(run)};
  };
  return info;
}

struct Finished {
  RunResult result;
  std::vector<capture::VerdictRow> verdicts;
  std::vector<capture::StepRow> steps;
};

Finished run(const FakeOptions& options, const MethodInfo* method, nlohmann::json settings) {
  FakeModel model(options);
  FakeTokenizer tokenizer(options.vocab_size, options.eos_token_ids);
  MemoryRecorder recorder;
  RunConfig config;
  config.method = "beam";
  config.settings = std::move(settings);
  config.prompt_tokens = {5, 6, 7};
  config.max_new_tokens = 17;
  Session session(model, tokenizer, method ? *method : find_method("beam"), config, recorder);
  session.run();
  return {session.result(), recorder.verdict_rows, recorder.steps};
}

TEST_CASE(
    "forest: speculative beam search finds what beam search finds, level by level in one forward") {
  std::int64_t forwards = 0, plain_forwards = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    FakeOptions options;
    options.seed = seed;
    options.eos_boost = seed % 3 == 0 ? 2.0f : 0.0f;
    options.quantum = seed % 2 == 0 ? 1 : 0;
    const FakeModel oracle(options);
    for (const char* stopping : {"true", "false", "never"}) {
      const nlohmann::json settings = {{"num_beams", 3},
                                       {"num_return_sequences", 3},
                                       {"early_stopping", stopping},
                                       {"length_penalty", 0.8}};
      const Finished plain = run(options, nullptr, settings);
      plain_forwards += plain.result.target_forwards;
      for (const char* kv : {"recycle", "compact", "keep"}) {
        CAPTURE(seed);
        CAPTURE(stopping);
        CAPTURE(kv);
        nlohmann::json with_policy = settings;
        with_policy.update({{"kv", kv}, {"gc_every", 2}});
        // Four children hold every beam that can live (an EOS takes one place at most); two and one
        // sometimes miss one, and then the level's other beams go through a forward again.
        for (const std::size_t width : {std::size_t{4}, std::size_t{2}, std::size_t{1}}) {
          CAPTURE(width);
          const MethodInfo method = drafting_beams(oracle, width, 2);
          const Finished drafted = run(options, &method, with_policy);
          REQUIRE(tokens_of(drafted.result) == tokens_of(plain.result));
          CHECK(scores_of(drafted.result) == scores_of(plain.result));
          for (std::size_t i = 0; i < plain.result.sequences.size(); ++i)
            CHECK(drafted.result.sequences[i].finish == plain.result.sequences[i].finish);
          CHECK(drafted.result.emitted_tokens == plain.result.emitted_tokens);
          if (width == 4) {
            // Prefill gives a level, every later forward three.
            const std::int64_t levels = plain.result.target_forwards - 1;
            CHECK(drafted.result.target_forwards == 1 + (levels + 2) / 3);
            forwards += drafted.result.target_forwards * (std::string(kv) == "keep" ? 1 : 0);
          } else {
            CHECK(drafted.result.target_forwards <= plain.result.target_forwards);
          }
        }
      }
    }
  }
  CHECK(forwards * 2 < plain_forwards);
}

TEST_CASE("forest: every draft below the beams gets a verdict, and the counts are theirs") {
  FakeOptions options;
  options.eos_token_ids = {};
  const FakeModel oracle(options);
  const MethodInfo method = drafting_beams(oracle, 4, 2);
  const Finished drafted = run(options, &method, {{"num_beams", 3}});
  // 17 tokens: prefill 1, five forwards of 3, and one last with room for no draft.
  REQUIRE(drafted.steps.size() == 7);
  for (std::size_t i = 1; i < 6; ++i) {
    CHECK(drafted.steps[i].forward_rows == 3 + 12 + 48);
    CHECK(drafted.steps[i].drafted == 60);
    CHECK(drafted.steps[i].accepted == 6);  // the live beams of the two levels below
    CHECK(drafted.steps[i].emitted == 3);
  }
  CHECK(drafted.steps[6].drafted == 0);
  std::set<std::int32_t> rejected, settled;
  for (const auto& row : drafted.verdicts) {
    settled.insert(row.node);
    if (row.verdict == capture::Verdict::kRejected) rejected.insert(row.node);
  }
  CHECK(rejected.size() == 5 * 54);
}

TEST_CASE("forest: withdrawn drafts do not go through the forward and are not counted") {
  FakeOptions options;
  options.eos_token_ids = {};
  const FakeModel oracle(options);
  const MethodInfo method = drafting_beams(oracle, 4, 1, 5);
  FakeModel model(options);
  FakeTokenizer tokenizer(options.vocab_size, options.eos_token_ids);
  MemoryRecorder recorder;
  RunConfig config;
  config.prompt_tokens = {5, 6, 7};
  config.max_new_tokens = 9;
  Session session(model, tokenizer, method, config, recorder);
  session.step();
  session.advance();
  int pending = 0, withdrawn = 0;
  for (std::int32_t id = 1; id < session.tree().size(); ++id) {
    pending += session.tree()[NodeId(id)].status == NodeStatus::kPending;
    withdrawn += session.tree()[NodeId(id)].status == NodeStatus::kWithdrawn;
  }
  CHECK(pending == 3 + 5);
  CHECK(withdrawn == 7);
  session.run();
  for (std::size_t i = 1; i + 1 < recorder.steps.size(); ++i) {
    CHECK(recorder.steps[i].drafted == 5);
    CHECK(recorder.steps[i].forward_rows == 8);
  }
  FakeModel plain_model(options);
  MemoryRecorder plain_recorder;
  Session plain(plain_model, tokenizer, find_method("beam"), config, plain_recorder);
  plain.run();
  CHECK(tokens_of(session.result()) == tokens_of(plain.result()));
}

// Begins with the two best tokens of the prompt's row, a text each; from there on greedy.
class TwoTexts final : public Acceptor {
 public:
  explicit TwoTexts(const RunContext& run) : texts_(run, verify_greedy) {}
  AcceptResult accept(const StepView& view, Rng& rng) override {
    if (view.step > 0) return texts_.accept(view, rng);
    AcceptResult result;
    const auto row = view.logits(0);
    std::vector<float> logits(row.begin(), row.end());
    for (int i = 0; i < 2; ++i) {
      const auto best = std::ranges::max_element(logits) - logits.begin();
      logits[static_cast<std::size_t>(best)] = -std::numeric_limits<float>::infinity();
      result.frontier.push_back(
          view.tree.hang(TokenTree::root(), TokenId(best), capture::Source::kGreedy, 0).node);
    }
    return result;
  }
  std::vector<FinishedSequence> results(const TokenTree& tree) const override {
    return texts_.results(tree);
  }

 private:
  TextAcceptor texts_;
};

TEST_CASE(
    "forest: two texts are verified from their own roots in one forward, each as if it were alone") {
  std::int64_t drafted_forwards = 0, plain_forwards = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    FakeOptions options;
    options.seed = seed;
    options.eos_boost = 1;
    const FakeModel oracle(options);
    MethodInfo method = find_method("greedy");
    std::vector<RunResult> results;
    for (const int levels : {0, 3}) {
      method.make = [&](const RunContext& run) {
        return MethodParts{std::make_unique<OracleDrafter>(oracle, 2, levels),
                           std::make_unique<TwoTexts>(run)};
      };
      FakeModel model(options);
      FakeTokenizer tokenizer(options.vocab_size, options.eos_token_ids);
      MemoryRecorder recorder;
      RunConfig config;
      config.prompt_tokens = {5, 6, 7};
      config.max_new_tokens = 20;
      Session session(model, tokenizer, method, config, recorder);
      session.run();
      results.push_back(session.result());
    }
    REQUIRE(results[0].sequences.size() == 2);
    CHECK(tokens_of(results[1]) == tokens_of(results[0]));
    for (const ReturnedSequence& sequence : results[1].sequences) {
      // Greedy decoding by hand from the text's own first token on.
      std::vector<std::int32_t> text = {5, 6, 7, sequence.tokens[0]};
      while (text.size() < 23 && text.back() != 0) {
        const auto logits = oracle.logits_of(text);
        text.push_back(
            static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin()));
      }
      CHECK(std::ranges::equal(std::span(text).subspan(3), sequence.tokens));
      CHECK(sequence.finish == (text.back() == 0 ? "eos" : "length"));
    }
    plain_forwards += results[0].target_forwards;
    drafted_forwards += results[1].target_forwards;
  }
  CHECK(drafted_forwards * 2 < plain_forwards);
}

}  // namespace
}  // namespace triescope::test::test_forest
