// An executor against the plain transformer: every hidden state and every logit, over models whose
// settings are exaggerated so that a wrong one shows. Used for the CPU executor, libtorch's
// operations and the CUDA path.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>

#include "core/model/model.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/plain_transformer.h"

namespace triescope::test {

// A change of the description that must show in the logits.
struct Knob {
  std::string name;
  std::function<void(PlainTransformer&)> change;
};

struct ExecutorCase {
  std::string golden;      // of model_families.json, whose weights it takes
  nlohmann::json changes;  // to its config.json
  int text_length;         // of the forward
  std::vector<Knob> knobs;
};

inline std::vector<ExecutorCase> executor_cases() {
  using formats::Activation;
  const Knob eps = {"norm epsilon", [](PlainTransformer& p) { p.config.norm_eps = 1e-6f; }};
  const Knob qk_eps = {"q/k norm epsilon", [](PlainTransformer& p) { p.qk_norm_eps = 1e-6; }};
  const Knob scale = {"attention scale",
                      [](PlainTransformer& p) { p.config.attention_scale *= 1.05f; }};
  const Knob wider = {"a window of one more", [](PlainTransformer& p) {
                        for (auto& layer : p.config.layers) layer.window += layer.window > 0;
                      }};
  const Knob narrower = {"a window of one less", [](PlainTransformer& p) {
                           for (auto& layer : p.config.layers) layer.window -= layer.window > 0;
                         }};
  const Knob theta = {"rope theta", [](PlainTransformer& p) { p.config.ropes[0].theta *= 1.1; }};
  const Knob cap = {"attention softcap",
                    [](PlainTransformer& p) { p.config.attention_softcap *= 1.1f; }};
  const Knob logit_cap = {"logit softcap",
                          [](PlainTransformer& p) { p.config.logit_softcap *= 1.1f; }};
  const Knob embedding = {"embedding scale",
                          [](PlainTransformer& p) { p.config.embedding_scale *= 1.01f; }};
  const auto activation = [](Activation other) {
    return Knob{"activation", [other](PlainTransformer& p) { p.config.activation = other; }};
  };
  const Knob dims = {"rope over all dimensions",
                     [](PlainTransformer& p) { p.config.ropes[0].dims = p.config.head_dim; }};
  const Knob shorter = {"original context of one more token", [](PlainTransformer& p) {
                          for (auto& rope : p.config.ropes) rope.original_context += 1;
                        }};
  const Knob residual = {"residual scale",
                         [](PlainTransformer& p) { p.config.residual_scale *= 1.01f; }};
  const Knob logits = {"logit scale", [](PlainTransformer& p) { p.config.logit_scale *= 1.01f; }};
  const Knob in_turn = {"MLP after attention",
                        [](PlainTransformer& p) { p.mlp_after_attention = true; }};
  const Knob queries = {"scale of q by position",
                        [](PlainTransformer& p) { p.config.query_scale.beta *= 1.1; }};
  const Knob fewer = {"one expert less", [](PlainTransformer& p) { p.config.experts.used -= 1; }};
  const Knob divided = {"weights divided by their sum",
                        [](PlainTransformer& p) { p.config.experts.normalise = true; }};
  const Knob undivided = {"weights not divided by their sum",
                          [](PlainTransformer& p) { p.config.experts.normalise = false; }};
  const Knob unshared = {"no shared expert",
                         [](PlainTransformer& p) { p.config.experts.shared_intermediate = 0; }};
  const Knob clip = {"q, k and v cut a little later",
                     [](PlainTransformer& p) { p.config.qkv_clip *= 1.1f; }};
  const Knob sinkless = {"no attention sinks",
                         [](PlainTransformer& p) { p.config.attention_sinks = false; }};
  const Knob plain_glu = activation(Activation::kSilu);
  const Knob attention_factor = {"rope's attention factor", [](PlainTransformer& p) {
                                   p.config.ropes[0].attention_factor *= 1.05;
                                 }};
  return {
      {"llama", {{"rms_norm_eps", 1e-2}}, 0, {eps, scale, theta}},
      {"llama tied, biases, head_dim", {{"rms_norm_eps", 1e-2}}, 0, {eps, scale}},
      {"llama multi-query", nlohmann::json::object(), 0, {scale}},
      {"mistral", {{"sliding_window", 5}}, 0, {wider, narrower}},
      {"qwen2", {{"sliding_window", 3}}, 0, {wider, narrower}},
      {"qwen3", {{"rms_norm_eps", 1e-2}}, 0, {eps, qk_eps, scale}},
      {"smollm3", nlohmann::json::object(), 0, {theta}},
      {"phi3", {{"sliding_window", 7}}, 0, {wider, narrower, dims}},
      {"gemma2",
       {{"sliding_window", 6},
        {"rms_norm_eps", 1e-2},
        {"attn_logit_softcapping", 0.7},
        {"final_logit_softcapping", 1.5},
        {"query_pre_attn_scalar", 3}},
       0,
       {eps, scale, wider, narrower, cap, logit_cap, embedding, activation(Activation::kGelu)}},
      {"gemma3",
       {{"sliding_window", 6}, {"rms_norm_eps", 1e-2}, {"query_pre_attn_scalar", 3}},
       0,
       {eps, qk_eps, scale, wider, narrower, embedding, theta}},
      {"granite", {{"attention_multiplier", 0.7}}, 0, {scale, embedding, residual, logits}},
      {"gpt_neox", {{"layer_norm_eps", 1e-2}}, 0, {eps, dims, theta, in_turn}},
      {"olmo2", {{"rms_norm_eps", 1e-2}}, 0, {eps, qk_eps, scale}},
      {"olmo3", {{"sliding_window", 6}}, 0, {wider, narrower, theta}},
      {"glm4", {{"rms_norm_eps", 1e-2}}, 0, {eps, scale, theta}},
      {"cohere2",
       {{"sliding_window", 6}, {"logit_scale", 3}},
       0,
       {wider, narrower, logits, in_turn}},
      {"starcoder2", {{"sliding_window", 6}}, 0, {wider, narrower, activation(Activation::kSilu)}},
      {"exaone4", {{"sliding_window", 6}, {"rms_norm_eps", 1e-2}}, 0, {eps, qk_eps, wider}},
      {"stablelm side by side, norms on q and k",
       {{"layer_norm_eps", 1e-2}},
       0,
       {eps, qk_eps, dims, in_turn}},
      {"phi", {{"layer_norm_eps", 1e-2}}, 0, {eps, dims, in_turn, activation(Activation::kSilu)}},
      {"seed_oss biases", nlohmann::json::object(), 0, {scale, theta}},
      {"ministral3", nlohmann::json::object(), 0, {attention_factor, queries}},
      {"mixtral", {{"rms_norm_eps", 1e-2}}, 0, {eps, fewer, activation(Activation::kGelu)}},
      {"mixtral window, three of six", {{"sliding_window", 5}}, 0, {wider, fewer, undivided}},
      {"qwen2_moe", {{"norm_topk_prob", true}}, 0, {fewer, undivided, unshared}},
      {"qwen3_moe every second layer, window", nlohmann::json::object(), 0, {fewer, divided}},
      {"olmoe clipped, normalised", {{"clip_qkv", 0.3}}, 0, {clip, fewer, undivided}},
      {"granitemoeshared", nlohmann::json::object(), 0, {residual, fewer, undivided}},
      {"gpt_oss", {{"rms_norm_eps", 1e-2}}, 0, {eps, fewer, wider, sinkless, plain_glu, theta}},
      {"gpt_oss plain rope, no biases on q",
       nlohmann::json::object(),
       0,
       {wider, fewer, undivided}},
      {"gpt2",
       {{"layer_norm_epsilon", 1e-2}, {"activation_function", "gelu"}},
       0,
       {eps, scale, activation(Activation::kGeluTanh)}},
      {"gpt2",
       {{"activation_function", "gelu_new"}},
       0,
       {activation(Activation::kGelu), activation(Activation::kSilu)}},
      // The text grows past the original context within the forward: every row by its own position.
      {"llama rope dynamic, outgrown",
       {{"max_position_embeddings", 20}},
       0,
       {{"longer from the start",
         [](PlainTransformer& p) { p.config.ropes[0].original_context = 1; }},
        shorter}},
      // All of it of a long text from the start.
      {"llama rope dynamic, outgrown", {{"max_position_embeddings", 20}}, 60, {theta, shorter}},
      {"llama rope longrope, outgrown",
       {{"rope_scaling", {{"original_max_position_embeddings", 12}}}},
       0,
       {shorter, attention_factor}},
      {"llama rope longrope, outgrown", nlohmann::json::object(), 41, {theta}},
      {"llama rope yarn", nlohmann::json::object(), 0, {attention_factor, theta}},
      {"llama rope llama3", nlohmann::json::object(), 0, {theta}},
      {"llama rope linear", nlohmann::json::object(), 0, {theta}},
  };
}

// |got - want| relative to the largest of `want` (at least 1).
inline double distance(std::span<const float> got, const PlainTransformer::Matrix& want) {
  double largest = 1, worst = 0;
  std::size_t i = 0;
  for (const auto& row : want) {
    for (const double value : row) {
      largest = std::max(largest, std::abs(value));
      const double difference = i < got.size() ? std::abs(got[i] - value) : INFINITY;
      if (std::isnan(difference)) return INFINITY;
      worst = std::max(worst, difference);
      ++i;
    }
  }
  return i == got.size() ? worst / largest : INFINITY;
}

// Every hidden state and logit of 24 rows, the knobs too.
inline void check_executor(
    const std::function<std::unique_ptr<Model>(const std::filesystem::path&)>& load) {
  constexpr double kTolerance = 1e-5;  // fp32 against fp64, over four layers
  const nlohmann::json golden = golden_families()["cases"];
  const std::vector<std::int32_t> order = iota(24);
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 24; ++i) ids.push_back((i * 29 + 7) % 64);
  for (const ExecutorCase& test : executor_cases()) {
    CAPTURE(test.golden);
    CAPTURE(test.changes.dump());
    CAPTURE(test.text_length);
    nlohmann::json entry = golden.at(test.golden);
    entry["config"].merge_patch(test.changes);
    const TempDir folder;
    write_golden_model(entry, folder.path());
    const PlainTransformer plain(folder.path().string());
    const PlainTransformer::Result want = plain.run(ids, test.text_length);

    const auto model = load(folder.path());
    const int layers = model->info().layers;
    REQUIRE(want.states.size() == static_cast<std::size_t>(layers + 2));
    std::vector<std::int32_t> wanted = iota(layers + 1);
    wanted.push_back(kFinalNorm);
    const auto kv = model->make_kv(24);
    ForwardBatch batch;
    batch.tokens = ids;
    batch.positions = batch.slots = batch.logit_rows = batch.feature_rows = order;
    batch.feature_layers = wanted;
    batch.text_length = test.text_length;
    const ForwardOutput output = model->forward(batch, *kv);
    const std::size_t size = output.features.size() / wanted.size();
    REQUIRE(size == 24 * static_cast<std::size_t>(model->info().hidden));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CAPTURE(wanted[i]);
      CHECK(distance(output.features.subspan(i * size, size), want.states[i]) <= kTolerance);
    }
    CHECK(distance(output.logits, want.logits) <= kTolerance);
    for (const Knob& knob : test.knobs) {
      CAPTURE(knob.name);
      PlainTransformer other(folder.path().string());
      knob.change(other);
      CHECK(distance(output.logits, other.run(ids, test.text_length).logits) > 10 * kTolerance);
    }
  }
}

}  // namespace triescope::test
