// A target whose greedy text is computed once: runs over it are those over the target itself.
#include <doctest/doctest.h>

#include "app/session/first_drafts.h"
#include "app/session/known_text.h"
#include "core/session/session.h"
#include "tests/support/fake_head.h"
#include "tests/support/refusal.h"

namespace triescope::app::test_known_text {
namespace {

using formats::HeadKind;
using test::fake_head;
using test::FakeHead;
using test::FakeModel;
using test::FakeTokenizer;
using test::Pairs;
using test::refusal;
using test::Tokens;

const Tokens kPrompt = {3, 1, 2, 1, 0, 3, 2, 2, 1, 3};
constexpr int kNewTokens = 40;
// All that the fake heads read.
const std::vector<std::int32_t> kLayers = {kFinalNorm, 1, 2, 3, 4};

struct Run {
  Tokens text, drafts;  // drafts: of all nodes, each behind its parent
  std::vector<std::int64_t> accepted;
  Pairs read;  // tokens and the target's states that a head with layers read, row by row
  bool operator==(const Run&) const = default;
};

Run run_of(Model& target, const std::string& method, DraftHead& head) {
  const FakeTokenizer tokenizer(target.info().vocab_size, {});
  RunConfig config;
  config.method = method;
  config.prompt_tokens = kPrompt;
  config.max_new_tokens = kNewTokens;
  config.draft = {nullptr, nullptr, &head};
  NodeRecorder recorder;
  auto* const layers = dynamic_cast<FakeHead*>(head.layers.get());
  if (layers) layers->seen.clear();
  Session session(target, tokenizer, std::move(config), recorder);
  session.run();
  Run run{.text = session.result().sequences.front().tokens,
          .drafts = {},
          .accepted = session.result().accepted_histogram,
          .read = {}};
  for (const capture::NodeRow& node : recorder.nodes())
    run.drafts.insert(run.drafts.end(), {node.parent, node.token});
  if (layers)
    for (const Pairs& row : layers->seen) run.read.insert(run.read.end(), row.begin(), row.end());
  return run;
}

FakeModel target_of(test::FakeOptions options = {}) {
  options.vocab_size = 4;
  options.eos_token_ids = {};
  return FakeModel(options);
}

TEST_CASE("known text: every head's runs are those over the target, whose text is computed once") {
  for (const auto& [kind, method] : {std::pair{HeadKind::kMedusa, "medusa"},
                                     {HeadKind::kHydra, "hydra"},
                                     {HeadKind::kEagle, "eagle"},
                                     {HeadKind::kEagle, "eagle2"},
                                     {HeadKind::kEagle3, "eagle3"},
                                     {HeadKind::kMtp, "mtp"},
                                     {HeadKind::kDFlash, "dflash"}}) {
    CAPTURE(method);
    FakeModel target = target_of({.prefill_rows = 4}), asked = target_of({.prefill_rows = 4});
    KnownText known(asked, kPrompt, kLayers);
    for (const std::uint64_t seed : {1, 7, 9}) {
      CAPTURE(seed);
      const auto head = fake_head(kind, 4, 4096, seed);
      const Run expected = run_of(target, method, *head);
      REQUIRE(expected.text.size() == kNewTokens);
      CHECK(expected.accepted.size() > 1);
      CHECK(run_of(known, method, *head) == expected);
    }
    // Three runs, and the text once, with no more than a draft's length beyond its end.
    const auto least = static_cast<std::int64_t>(kPrompt.size()) + kNewTokens - 1;
    CHECK(asked.forward_rows >= least);
    CHECK(asked.forward_rows < least + 16);
    CHECK(target.forward_rows > 3 * least);
  }
}

TEST_CASE("known text: a forward that failed is made again, with nothing lost or twice") {
  FakeModel target = target_of({.prefill_rows = 4}), asked = target_of({.prefill_rows = 4});
  const auto head = fake_head(HeadKind::kEagle3, 4, 4096, 7);
  const Run expected = run_of(target, "eagle3", *head);
  KnownText known(asked, kPrompt, kLayers);
  for (const std::int64_t fails : {3, 9, 30}) {
    asked.on_layer = [&](int) {
      if (asked.forwards == fails) throw Error(ErrorCode::kOutOfMemory, "none left");
    };
    refusal(ErrorCode::kOutOfMemory, [&] { run_of(known, "eagle3", *head); });
  }
  asked.on_layer = {};
  CHECK(run_of(known, "eagle3", *head) == expected);
}

TEST_CASE("known text: a text that may cross the length where KV is recomputed is not served") {
  ModelInfo target;
  CHECK(KnownText::serves(target, 5000, 64));
  target.kv_valid_until = 200;
  CHECK(KnownText::serves(target, 72, 64));
  CHECK_FALSE(KnownText::serves(target, 73, 64));
  CHECK_FALSE(KnownText::serves(target, 200, 64));
  CHECK(KnownText::serves(target, 201, 64));
  // Beyond that length the runs are those over the target.
  FakeModel long_target = target_of({.kv_valid_until = 8}),
            asked = target_of({.kv_valid_until = 8});
  const auto head = fake_head(HeadKind::kEagle3, 4, 4096, 7);
  KnownText known(asked, kPrompt, kLayers);
  CHECK(run_of(known, "eagle3", *head) == run_of(long_target, "eagle3", *head));
}

TEST_CASE("known text: states that are not kept are refused") {
  FakeModel target = target_of();
  KnownText known(target, kPrompt, {1, 2});
  const auto head = fake_head(HeadKind::kEagle3, 4, 4096, 7);  // 1, 2 and 4
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] { run_of(known, "eagle3", *head); }) ==
        "known text: expected a layer whose states are kept; found 4");
}

TEST_CASE("known text: a row off the text has no states, and neither has what hangs below it") {
  FakeModel target = target_of();
  KnownText known(target, kPrompt, {1});
  const auto kv = known.make_kv(16);
  const Tokens positions = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, last = {9}, layer = {1};
  const ForwardOutput prefill = known.forward({.tokens = kPrompt,
                                               .positions = positions,
                                               .slots = positions,
                                               .prefix_slots = {},
                                               .own_slots = {},
                                               .own_offsets = {},
                                               .logit_rows = last,
                                               .feature_layers = layer,
                                               .feature_rows = positions},
                                              *kv, {});
  const std::int32_t next = prefill.row(0).argmax();
  CHECK(next == LogitsRow(target.logits_of(kPrompt)).argmax());
  for (std::size_t at = 0; at < kPrompt.size(); ++at)
    CHECK(prefill.features[2 * at] == target.feature_of(std::span(kPrompt).first(at + 1), 1)[0]);
  Tokens text = kPrompt;
  text.push_back(next);
  const std::int32_t second = LogitsRow(target.logits_of(text)).argmax();
  // Rows 0 and 2: the text. Row 1: another token, and row 3 the text's second token below it.
  const Tokens tokens = {next, (next + 1) % 4, second, second}, places = {10, 10, 11, 11},
               slots = {10, 11, 12, 13}, own = {10, 11, 10, 12, 11, 13}, offsets = {0, 1, 2, 4, 6},
               all = {0, 1, 2, 3};
  // Rows below the prompt: all their logits and states.
  const auto below_prompt = [&](ForwardBatch batch, const Tokens& rows) {
    batch.prefix_slots = positions;
    batch.logit_rows = batch.feature_rows = rows;
    batch.feature_layers = layer;
    return known.forward(batch, *kv, {});
  };
  const ForwardOutput out = below_prompt({.tokens = tokens,
                                          .positions = places,
                                          .slots = slots,
                                          .prefix_slots = {},
                                          .own_slots = own,
                                          .own_offsets = offsets,
                                          .logit_rows = {}},
                                         all);
  CHECK(out.row(0).argmax() == second);
  CHECK(out.row(0).log_sum_exp() == LogitsRow(target.logits_of(text)).log_sum_exp());
  CHECK(out.features[0] == target.feature_of(text, 1)[0]);
  text.push_back(second);
  CHECK(out.row(2).argmax() == LogitsRow(target.logits_of(text)).argmax());
  CHECK(out.features[4] == target.feature_of(text, 1)[0]);
  for (const std::size_t i : {2, 3, 6, 7}) CHECK(out.features[i] == 0);
  // A slot that moved takes with it whether it lies on the text.
  const Tokens from = {12, 13}, to = {13, 12};
  kv->move(from, to);
  const Tokens third = {out.row(2).argmax()}, at = {12}, where = {14}, row = {0};
  for (const std::int32_t slot : {13, 12}) {
    const Tokens seen = {slot == 13 ? 10 : 11, slot, 14}, bounds = {0, 3};
    const ForwardOutput below = below_prompt({.tokens = third,
                                              .positions = at,
                                              .slots = where,
                                              .prefix_slots = {},
                                              .own_slots = seen,
                                              .own_offsets = bounds,
                                              .logit_rows = {}},
                                             row);
    CHECK((below.features[0] != 0) == (slot == 13));
  }
}

}  // namespace
}  // namespace triescope::app::test_known_text
