// Layer skip: which layers stay, and the drafts that they write.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/capture/metric_names.h"
#include "core/methods/text_methods.h"
#include "core/model/layer_subset.h"
#include "tests/support/draft_rig.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_layer_skip {
namespace {

using nlohmann::json;
using Layers = std::vector<std::int32_t>;

constexpr int kVocab = 20;

FakeOptions of_layers(int layers) {
  return {.vocab_size = kVocab, .eos_token_ids = {}, .layers = layers};
}

// The best token after a text, of the model with these layers.
std::int32_t best_after(FakeModel& model, const Layers& layers, const Tokens& text) {
  LayerSubset part(model, sublayers_of(layers));
  const auto kv = part.make_kv(64);
  Tokens order(text.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  const Tokens last = {order.back()};
  ForwardBatch batch;
  batch.tokens = text;
  batch.positions = batch.slots = order;
  batch.logit_rows = last;
  return part.forward(batch, *kv, {}).row(0).argmax();
}

// The chain that these layers write.
std::vector<Tokens> chain_of(FakeModel& model, const Layers& layers, Tokens text, int length) {
  std::vector<Tokens> paths;
  for (int i = 0; i < length; ++i) {
    const std::int32_t token = best_after(model, layers, text);
    text.push_back(token);
    Tokens path = paths.empty() ? Tokens{} : paths.back();
    path.push_back(token);
    paths.push_back(path);
  }
  return paths;
}

std::vector<Tokens> drafts(FakeModel& model, const Tokens& text, const json& settings) {
  DraftRig rig(layer_skip_method(), text, settings, {.vocab = kVocab, .target = &model});
  return rig.draft();
}

Layers all_but(int layers, const Layers& skipped) {
  Layers kept;
  for (int i = 0; i < layers; ++i)
    if (std::ranges::find(skipped, i) == skipped.end()) kept.push_back(i);
  return kept;
}

TEST_CASE(
    "layer skip: it drafts what the layers that stay say: a list, the first n, or a part of the middle") {
  FakeModel model(of_layers(30));
  const Tokens text = {3, 7, 1, 5};
  CHECK(drafts(model, text, {{"skip_layers", {4, 9}}}) ==
        chain_of(model, all_but(30, {4, 9}), text, 4));
  CHECK(drafts(model, text, {{"skip_layers", {4, 9}}, {"num_assistant_tokens", 7}}) ==
        chain_of(model, all_but(30, {4, 9}), text, 7));
  CHECK(drafts(model, text, {{"assistant_early_exit", 3}}) == chain_of(model, {0, 1, 2}, text, 4));
  CHECK(drafts(model, text, {{"assistant_early_exit", 3}, {"skip_layers", {1}}}) ==
        chain_of(model, {0, 1, 2}, text, 4));
  CHECK(drafts(model, text, {}) ==
        chain_of(model, all_but(30, {12, 13, 14, 15, 16, 17, 18, 19}), text, 4));
  FakeModel small(of_layers(2));
  CHECK(drafts(small, text, {}) == chain_of(small, {1}, text, 4));
  FakeModel one(of_layers(1));
  CHECK(drafts(one, text, {}) == chain_of(one, {0}, text, 4));
}

TEST_CASE("layer skip: it says which layers the model has") {
  FakeModel model(of_layers(4));
  const auto why = [&](const json& settings) {
    return refusal(ErrorCode::kInvalidArgument, [&] { drafts(model, {1, 2}, settings); });
  };
  CHECK(why({{"assistant_early_exit", 4}}) ==
        "assistant_early_exit: expected fewer than the model's 4 layers, found 4");
  CHECK(why({{"skip_layers", {1, 4}}}) == "skip_layers: expected layers from 0 to 3, found 4");
  CHECK(why({{"skip_layers", {0, 1, 2, 3}}})
            .starts_with("skip_layers: expected at least one of the model's 4 layers to stay"));
}

TEST_CASE(
    "layer skip in a session: greedy decoding's text, rows of its own model, and what drafts is named") {
  FakeOptions options = of_layers(6);
  options.chain = {5, 6, 7, 8, 5};
  Rig plain(options), rig(options);
  plain.start("greedy", {}, {5, 6}, 20).run();
  Session& session = rig.start("layer_skip", {{"skip_layers", {2, 3}}}, {5, 6}, 20);
  session.run();
  const RunResult result = session.result();
  CHECK(tokens_of(result) == tokens_of(plain.session->result()));
  CHECK(result.target_forwards < 10);
  CHECK(result.drafter_cost.forwards > 4);
  CHECK(result.drafter_cost.kv_peak_tokens > 10);
  const json model = json::parse(rig.recorder.run_info.model_json);
  CHECK(model["draft"]["name"] == "4 of 6 layers of fake");
  CHECK(model["draft"]["layers"] == 4);
}

// Every draft of a recorded run, against the model that was to write it.
int wrong_drafts(const MemoryRecorder& recorder, FakeModel& model, const Layers& kept,
                 const Tokens& prompt) {
  int wrong = 0;
  for (const capture::NodeRow& node : recorder.node_rows) {
    if (node.source != capture::Source::kDraft) continue;
    Tokens above;
    for (std::int32_t at = node.parent; at > 0;
         at = recorder.node_rows[static_cast<std::size_t>(at)].parent)
      above.insert(above.begin(), recorder.node_rows[static_cast<std::size_t>(at)].token);
    above.insert(above.begin(), prompt.begin(), prompt.end());
    wrong += node.token != best_after(model, kept, above);
  }
  return wrong;
}

TEST_CASE(
    "layer skip in a session: the first layers take over the target's KV and read no prompt") {
  const FakeOptions options = of_layers(6);
  Tokens prompt;
  for (int i = 0; i < 40; ++i) prompt.push_back(i * 7 % kVocab);
  for (const json& settings :
       {json{{"assistant_early_exit", 3}}, json{{"skip_layers", {3, 4, 5}}}}) {
    CAPTURE(settings.dump());
    Rig plain(options), rig(options);
    plain.start("greedy", {}, prompt, 24).run();
    Session& session = rig.start("layer_skip", settings, prompt, 24);
    session.run();
    const RunResult result = session.result();
    CHECK(tokens_of(result) == tokens_of(plain.session->result()));
    CHECK(wrong_drafts(rig.recorder, rig.model, {0, 1, 2}, prompt) == 0);
    // A row for each pending token and each draft but a chain's last; none for the prompt.
    CHECK(result.drafter_cost.forward_rows <= 4 * 24);
  }
  // Behind a gap KV differs, so a list computes all of it.
  Rig rig(options);
  Session& session = rig.start("layer_skip", {{"skip_layers", {1, 2, 3}}}, prompt, 24);
  session.run();
  CHECK(wrong_drafts(rig.recorder, rig.model, {0, 4, 5}, prompt) == 0);
  CHECK(session.result().drafter_cost.forward_rows > 40 + 24);
}

TEST_CASE(
    "layer skip in a session: the search leaves the text alone, says which layers, and repeats") {
  FakeOptions options = of_layers(8);
  options.chain = {5, 6, 7, 8, 9, 5};
  const Tokens prompt = {5, 6, 7, 8};
  Rig plain(options);
  plain.start("greedy", {}, prompt, 80).run();
  const json settings = {{"skip_search", true}, {"skip_layers", {2, 3}}, {"search_window", 16}};
  std::vector<Layers> lists[2];
  for (auto& changes : lists) {
    Rig rig(options);
    Session& session = rig.start("layer_skip", settings, prompt, 80, 3);
    session.run();
    CHECK(tokens_of(session.result()) == tokens_of(plain.session->result()));
    std::int32_t last = -1;
    for (const capture::MetricRow& row : rig.recorder.metric_rows) {
      CHECK(capture::is_left_out(row.name));
      if (row.tick != last) changes.emplace_back();
      last = row.tick;
      const int layer = static_cast<int>(row.value);
      if (row.name != "left-out MLP") changes.back().push_back(attention_of(layer));
      if (row.name != "left-out attention") changes.back().push_back(mlp_of(layer));
    }
  }
  REQUIRE(lists[0].size() >= 1);
  CHECK(lists[0].front() == Layers{4, 5, 6, 7});
  for (const Layers& list : lists[0]) CHECK(list.size() == 4);
  CHECK(lists[0] == lists[1]);
}

TEST_CASE("layer skip: a search needs a middle to leave out") {
  FakeModel model(of_layers(2));
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          drafts(model, {1, 2}, {{"skip_search", true}, {"skip_layers", {1}}});
        }).starts_with("skip_search: expected 1 to 0 parts of 2 layers"));
}

TEST_CASE(
    "layer skip: layer skip, drawn from what the kept layers say, leaves sampling's distribution as it is") {
  constexpr std::int64_t kRuns = kSanitized ? 2000 : 20000;
  FakeOptions options = of_layers(4);
  options.vocab_size = 4;
  options.spread = 1.2f;
  const Tokens prompt = {1, 2};
  FakeModel oracle(options);
  const LogitsOf logits = [&](std::span<const std::int32_t> text) {
    return oracle.logits_of(text);
  };
  const auto exact = exact_texts(prompt, 3, logits);
  for (const char* verify : {"chain", "block", "sample"}) {
    CAPTURE(verify);
    std::map<Tokens, std::int64_t> counts;
    std::int64_t accepted = 0;
    for (std::int64_t i = 0; i < kRuns; ++i) {
      Rig rig(options, capture::Level::kOff);
      Session& session = rig.start("layer_skip", {{"verify", verify}, {"num_assistant_tokens", 2}},
                                   prompt, 3, static_cast<std::uint64_t>(i) + 1);
      session.run();
      ++counts[session.result().sequences[0].tokens];
      accepted += 3 - session.result().target_forwards;
    }
    const ChiSquare chi = chi_square(exact, counts, kRuns);
    CHECK(chi.value < chi.limit);
    CHECK(accepted > kRuns / 10);
  }
}

}  // namespace
}  // namespace triescope::test::test_layer_skip
