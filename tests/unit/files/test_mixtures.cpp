// What config.json and GGUF metadata mean in families with a mixture of experts: defaults, which
// layers have experts, where their weights lie, what is refused. Defaults are those of transformers'
// configuration classes; what a GGUF leaves out is llama.cpp's.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/files/weight_names.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace test_mixtures {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// "experts by layer / used / intermediate / shared", then d where weights are divided by their sum
// and g where the shared expert has a gate.
std::string experts_of(const ModelConfig& config) {
  std::string text;
  for (const LayerConfig& layer : config.layers)
    text += (text.empty() ? "" : " ") + std::to_string(layer.experts);
  const ExpertsConfig& experts = config.experts;
  return text + " / " + std::to_string(experts.used) + " / " +
         std::to_string(config.intermediate_of(0, 0)) + " / " +
         std::to_string(experts.shared_intermediate) + (experts.normalise ? "d" : "") +
         (experts.shared_gate ? "g" : "");
}

std::string where(const ModelConfig& config, const Part& part) {
  const WeightSlice slice = locate(config, part);
  return slice.tensor + "+" + std::to_string(slice.first_row);
}

GgufWriter mixture_of(const std::string& architecture, std::uint32_t layers, std::uint32_t routers,
                      bool shared_gate = false) {
  GgufWriter writer = gguf_of(architecture, layers);
  writer.add(architecture + ".expert_count", std::uint32_t{4});
  writer.add(architecture + ".expert_used_count", std::uint32_t{2});
  for (std::uint32_t layer = layers - routers; layer < layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    writer.add_f32(block + "ffn_gate_inp.weight", {64, 4}, std::vector<float>(256));
    if (shared_gate)
      writer.add_f32(block + "ffn_gate_inp_shexp.weight", {64}, std::vector<float>(64));
  }
  return writer;
}

}  // namespace

TEST_CASE("mixtures: experts and their defaults, in every family") {
  CHECK(experts_of(config_of("mixtral")) == "8 8 8 8 / 2 / 128 / 0d");
  CHECK(experts_of(config_of("mixtral", R"("num_local_experts":3,"num_experts_per_tok":1)")) ==
        "3 3 3 3 / 1 / 128 / 0d");
  CHECK(config_of("mixtral").ropes[0].theta == 1000000);
  CHECK(windows(config_of("mixtral")) == "....");
  CHECK(windows(config_of("mixtral", R"("sliding_window":9)")) == "wwww");
  CHECK(experts_of(config_of("olmoe")) == "64 64 64 64 / 8 / 128 / 0");
  CHECK(experts_of(config_of("olmoe", R"("norm_topk_prob":true)")) == "64 64 64 64 / 8 / 128 / 0d");
  CHECK(config_of("olmoe").qkv_clip == 0);
  CHECK(config_of("olmoe", R"("clip_qkv":8)").qkv_clip == 8);
  CHECK(config_of("olmoe").qk_norm == QkNorm::kWhole);
  CHECK(experts_of(config_of("granitemoe")) == "8 8 8 8 / 2 / 128 / 0d");
  CHECK(experts_of(config_of("granitemoeshared", R"("shared_intermediate_size":40)")) ==
        "8 8 8 8 / 2 / 128 / 40d");
  CHECK(config_of("granitemoe", R"("logits_scaling":8)").logit_scale == 0.125f);
  CHECK(experts_of(config_of("qwen2_moe")) == "60 60 60 60 / 4 / 1408 / 5632g");
  CHECK(config_of("qwen2_moe").qkv_bias);
  CHECK(experts_of(config_of("qwen3_moe")) == "128 128 128 128 / 8 / 768 / 0");
  CHECK(config_of("qwen3_moe").qk_norm == QkNorm::kHeads);
  // The key that newer releases of transformers write.
  CHECK(experts_of(config_of("qwen3_moe", R"("num_local_experts":16,"norm_topk_prob":true)")) ==
        "16 16 16 16 / 8 / 768 / 0d");
}

TEST_CASE("mixtures: layers with one MLP, and windows, by Qwen's settings") {
  const auto read = [](const char* more) {
    return config_of("qwen2_moe", std::string(R"("num_experts":4,)") + more);
  };
  CHECK(experts_of(read(R"("decoder_sparse_step":2)")) == "0 4 0 4 / 4 / 128 / 5632g");
  CHECK(experts_of(read(R"("mlp_only_layers":[0,3])")) == "0 4 4 0 / 4 / 128 / 5632g");
  CHECK(read(R"("mlp_only_layers":[0])").intermediate_of(0, -1) == 128);
  CHECK(read(R"("mlp_only_layers":[0])").mlps_of(0) == 1);
  CHECK(read(R"("mlp_only_layers":[0])").mlps_of(1) == 5);
  const char* const kWindow = R"("use_sliding_window":true,"sliding_window":9,)";
  CHECK(windows(read((std::string(kWindow) + R"("max_window_layers":3)").c_str())) == "w.w.");
  CHECK(windows(read(R"("sliding_window":9)")) == "....");
  CHECK(windows(config_of("qwen3_moe", std::string(kWindow) + R"("max_window_layers":3)")) ==
        "wwww");
  CHECK(has(refused(ErrorCode::kCorruption, "qwen2_moe", R"("decoder_sparse_step":0)"),
            "decoder_sparse_step"));
}

TEST_CASE("mixtures: weights of experts lie where transformers writes them") {
  const ModelConfig mixtral = config_of("mixtral");
  CHECK(where(mixtral, {Role::kRouter, 1}) == "model.layers.1.block_sparse_moe.gate.weight+0");
  CHECK(where(mixtral, {Role::kGate, 1, 3}) ==
        "model.layers.1.block_sparse_moe.experts.3.w1.weight+0");
  CHECK(where(mixtral, {Role::kDown, 1, 3}) ==
        "model.layers.1.block_sparse_moe.experts.3.w2.weight+0");
  CHECK(where(mixtral, {Role::kUp, 1, 3}) ==
        "model.layers.1.block_sparse_moe.experts.3.w3.weight+0");
  const ModelConfig qwen = config_of("qwen2_moe", R"("num_experts":4)");
  CHECK(where(qwen, {Role::kUp, 2, 3}) == "model.layers.2.mlp.experts.3.up_proj.weight+0");
  CHECK(where(qwen, {Role::kUp, 2, 4}) == "model.layers.2.mlp.shared_expert.up_proj.weight+0");
  CHECK(where(qwen, {Role::kSharedGate, 2}) == "model.layers.2.mlp.shared_expert_gate.weight+0");
  CHECK(expected_shape(qwen, {Role::kDown, 2, 4}) == WeightShape{64, 5632});
  CHECK(expected_shape(qwen, {Role::kDown, 2, 3}) == WeightShape{64, 1408});
  CHECK(expected_shape(qwen, {Role::kRouter, 2}) == WeightShape{4, 64});
  CHECK(expected_shape(qwen, {Role::kSharedGate, 2}) == WeightShape{1, 64});
  const ModelConfig granite = config_of("granitemoeshared", R"("shared_intermediate_size":40)");
  const std::string block = "model.layers.0.block_sparse_moe.";
  CHECK(where(granite, {Role::kRouter, 0}) == block + "router.layer.weight+0");
  CHECK(where(granite, {Role::kGate, 0, 2}) == block + "input_linear.weight+512");
  CHECK(where(granite, {Role::kUp, 0, 2}) == block + "input_linear.weight+640");
  CHECK(where(granite, {Role::kDown, 0, 2}) == block + "output_linear.weight+128");
  CHECK(where(granite, {Role::kUp, 0, 8}) == "model.layers.0.shared_mlp.input_linear.weight+40");
  CHECK(where(granite, {Role::kDown, 0, 8}) == "model.layers.0.shared_mlp.output_linear.weight+0");
  CHECK(!expected_shape(granite, {Role::kSharedGate, 0}));
}

TEST_CASE("mixtures in GGUF: routers say which layers have experts, the architecture the rest") {
  const auto read = [](const std::string& architecture) {
    return config_of(mixture_of(architecture, 2, 2));
  };
  CHECK(experts_of(read("llama")) == "4 4 / 2 / 64 / 0d");  // Mixtral
  CHECK(experts_of(read("qwen2moe")) == "4 4 / 2 / 64 / 0");
  CHECK(experts_of(read("qwen3moe")) == "4 4 / 2 / 64 / 0d");
  CHECK(experts_of(read("olmoe")) == "4 4 / 2 / 64 / 0");
  CHECK(experts_of(read("granitemoe")) == "4 4 / 2 / 64 / 0d");
  CHECK(experts_of(config_of(mixture_of("qwen3moe", 3, 1))) == "0 0 4 / 2 / 64 / 0d");

  GgufWriter writer = mixture_of("qwen2moe", 2, 2, true);
  writer.add("qwen2moe.expert_feed_forward_length", std::uint32_t{24});
  writer.add("qwen2moe.expert_shared_feed_forward_length", std::uint32_t{40});
  writer.add_raw("qwen2moe.expert_weights_norm", 7, std::string(1, 1));
  writer.add("qwen2moe.expert_weights_scale", 2.5f);
  const ModelConfig qwen = config_of(writer);
  CHECK(experts_of(qwen) == "4 4 / 2 / 24 / 40dg");
  CHECK(qwen.experts.scale == 2.5f);
  CHECK(where(qwen, {Role::kRouter, 1}) == "blk.1.ffn_gate_inp.weight+0");
  CHECK(where(qwen, {Role::kUp, 1, 3}) == "blk.1.ffn_up_exps.weight+72");
  CHECK(locate(qwen, {Role::kUp, 1, 3}).stacked);
  CHECK(where(qwen, {Role::kUp, 1, 4}) == "blk.1.ffn_up_shexp.weight+0");
  CHECK(!locate(qwen, {Role::kUp, 1, 4}).stacked);
  CHECK(where(qwen, {Role::kSharedGate, 1}) == "blk.1.ffn_gate_inp_shexp.weight+0");

  GgufWriter clipped = mixture_of("olmoe", 2, 2);
  clipped.add("olmoe.attention.clamp_kqv", 0.5f);
  CHECK(config_of(clipped).qkv_clip == 0.5f);
}

TEST_CASE("mixtures: what is not supported, or contradicts itself, is an error that names it") {
  for (const char* family : {"deepseek_v3", "glm4_moe", "dbrx"})
    CHECK(has(refused(ErrorCode::kNotSupported, family, ""), family));
  CHECK(has(refused(ErrorCode::kCorruption, "mixtral", R"("num_experts_per_tok":9)"),
            "expected experts of a token from 1 to 8, found 9"));
  CHECK(has(refused(ErrorCode::kCorruption, "mixtral", R"("num_experts_per_tok":0)"),
            "experts of a token"));
  const auto refused_gguf = [](ErrorCode code, const char* key, auto value) {
    return refusal(code, [&] {
      GgufWriter writer = mixture_of("qwen3moe", 2, 2);
      writer.add(std::string("qwen3moe.") + key, value);
      config_of(writer);
    });
  };
  CHECK(has(refused_gguf(ErrorCode::kNotSupported, "expert_gating_func", std::uint32_t{2}),
            "expert_gating_func 2"));
  CHECK(has(refused_gguf(ErrorCode::kNotSupported, "expert_group_count", std::uint32_t{4}),
            "expert_group_count"));
  CHECK(has(refusal(ErrorCode::kNotSupported, [] { config_of(mixture_of("qwen3moe", 2, 0)); }),
            "without a router"));
  CHECK(has(refusal(ErrorCode::kNotSupported, [] { config_of(mixture_of("qwen2", 2, 2)); }),
            "a mixture of experts (expert_count) of family qwen2"));
  CHECK(has(
      refusal(ErrorCode::kNotSupported,
              [] {
                GgufWriter writer = mixture_of("llama", 2, 2);
                writer.add_f32("blk.0.ffn_gate.0.weight", {64, 64}, std::vector<float>(64 * 64));
                config_of(writer);
              }),
      "a tensor for each expert"));
}

}  // namespace test_mixtures
