// LFM2: which layers are convolutions, how large an MLP is, and what a KV slot holds; from config.json and GGUF.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/files/weight_names.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace triescope::test::test_lfm2_config {

using namespace formats;

namespace {

std::string taps(const ModelConfig& config) {
  std::string text;
  for (const LayerConfig& layer : config.layers) text += std::to_string(layer.taps);
  return text;
}

std::string experts(const ModelConfig& config) {
  std::string text;
  for (const LayerConfig& layer : config.layers)
    text += (text.empty() ? "" : " ") + std::to_string(layer.experts);
  return text;
}

const std::string kTypes = R"("layer_types":["conv","conv","full_attention","conv"])";

GgufWriter gguf_file(const std::string& architecture, std::uint32_t taps,
                     const std::vector<std::int32_t>& kv_heads) {
  GgufWriter writer = gguf_of(architecture, static_cast<std::uint32_t>(kv_heads.size()));
  writer.add_raw(architecture + ".attention.head_count_kv", 9, gguf_numbers(5, kv_heads));
  writer.add(architecture + ".shortconv.l_cache", taps);
  return writer;
}

}  // namespace

TEST_CASE("LFM2: a slot holds a column of hidden values of a convolution, and no V") {
  const ModelConfig config = config_of("lfm2", kTypes);
  CHECK(taps(config) == "3303");
  CHECK(config.most_taps() == 3);
  CHECK(config_of("llama").most_taps() == 0);
  CHECK(!config.has_even_kv());
  CHECK(config.kv_shape(0) == KvShape{.heads = 1, .head_dim = 64});
  CHECK(config.kv_shape(0).key_values() == 64);
  CHECK(config.kv_shape(0).value_values() == 0);
  CHECK(config.kv_shape(2) == KvShape{.heads = 2, .head_dim = 16, .has_values = true});
  CHECK(config.kv_values() == 3 * 64 + 2 * 2 * 16);
  CHECK(config.qk_norm == QkNorm::kHeads);
  CHECK(config.tied_embeddings);
  CHECK(config.ropes[0].theta == 1e6);
  CHECK(!config_of("lfm2", kTypes + R"(,"conv_L_cache":1)").has_even_kv());
  // All layers attend, as where neither list is there.
  CHECK(config_of("lfm2").has_even_kv());
}

TEST_CASE("LFM2: either list says the layers, and one that contradicts the model is refused") {
  CHECK(taps(config_of("lfm2")) == "0000");
  CHECK(taps(config_of("lfm2", R"("full_attn_idxs":[1,3],"conv_L_cache":4)")) == "4040");
  CHECK(taps(config_of("lfm2", kTypes + R"(,"full_attn_idxs":[0])")) == "3303");
  CHECK(has(refused(ErrorCode::kCorruption, "lfm2", R"("full_attn_idxs":[4])"),
            "full_attn_idxs: expected the numbers of layers"));
  CHECK(has(refused(ErrorCode::kCorruption, "lfm2", R"("layer_types":["conv"])"),
            "layer_types: expected one entry a layer"));
  CHECK(has(refused(ErrorCode::kNotSupported, "lfm2",
                    R"("layer_types":["conv","conv","full_attention","mamba"])"),
            "layer type 'mamba' (conv and full_attention are read)"));
  CHECK(has(refused(ErrorCode::kCorruption, "lfm2", kTypes + R"(,"conv_L_cache":0)"),
            "conv_L_cache: expected 1 or more"));
  CHECK(has(refused(ErrorCode::kCorruption, "lfm2", kTypes + R"(,"conv_L_cache":65)"),
            "expected taps of a convolution from 0 to 64, found 65"));
}

TEST_CASE("LFM2: an MLP's size is the one that transformers computes") {
  const auto size = [](const std::string& more) { return config_of("lfm2", more).intermediate; };
  CHECK(size("") == 256);  // 2/3 of 128, up to a multiple of 256
  CHECK(size(R"("block_multiple_of":8)") == 88);
  CHECK(size(R"("block_multiple_of":8,"block_ffn_dim_multiplier":1.5)") == 128);
  CHECK(size(R"("block_multiple_of":8,"block_ffn_dim_multiplier":null)") == 85);
  CHECK(size(R"("block_auto_adjust_ff_dim":false)") == 128);
  CHECK(size(R"("block_auto_adjust_ff_dim":false,"block_ff_dim":72)") == 72);
  CHECK(has(refused(ErrorCode::kCorruption, "lfm2", R"("block_multiple_of":0)"),
            "block_multiple_of: expected 1 or more"));
  // Sizes that no int holds, or none that a model has.
  for (const char* multiplier : {"1e300", "-1e300", "-1", "16777216"})
    CHECK(
        has(refused(ErrorCode::kCorruption, "lfm2",
                    R"("block_ffn_dim_multiplier":)" + std::string(multiplier)),
            "block_ffn_dim_multiplier: expected a number that makes an MLP's size of at most 2^20 "
            "out of 85"));
  CHECK(has(refused(ErrorCode::kCorruption, "lfm2", R"("block_multiple_of":1073741824)"),
            "block_multiple_of: expected a number that leaves an MLP's size of at most 2^20"));
}

TEST_CASE("LFM2: parts of a convolution and of attention are those of their layers alone") {
  const ModelConfig config = config_of("lfm2", kTypes + R"(,"conv_bias":true)");
  const auto rows = [&](Role role, int layer) {
    const auto shape = expected_shape(config, {role, layer});
    return shape ? std::to_string(shape->rows) + "x" + std::to_string(shape->cols) : "none";
  };
  CHECK(rows(Role::kConvInput, 0) == "192x64");
  CHECK(rows(Role::kConvTaps, 0) == "64x3");
  CHECK(rows(Role::kConvTapsBias, 0) == "64x1");
  CHECK(rows(Role::kOutput, 0) == "64x64");
  CHECK(rows(Role::kOutputBias, 0) == "64x1");
  for (const Role role : {Role::kQuery, Role::kKey, Role::kValue, Role::kQueryNorm, Role::kKeyNorm})
    CHECK(rows(role, 0) == "none");
  for (const Role role : {Role::kConvInput, Role::kConvTaps, Role::kOutputBias})
    CHECK(rows(role, 2) == "none");
  CHECK(rows(Role::kKey, 2) == "32x64");
}

TEST_CASE(
    "LFM2-MoE: the first layers are dense, scores are sigmoids, and a bias is read where said") {
  const ModelConfig config = config_of("lfm2_moe", kTypes);
  CHECK(experts(config) == "0 0 32 32");
  CHECK(config.experts.used == 4);
  CHECK(config.experts.intermediate == 1792);
  CHECK(config.intermediate_of(0, -1) == 128);
  CHECK(config.experts.sigmoid);
  CHECK(config.experts.selection_bias);
  CHECK(config.experts.normalise);
  CHECK(config.experts.sum_offset == 1e-6f);
  CHECK(expected_shape(config, {Role::kSelectionBias, 2}).has_value());
  CHECK(!expected_shape(config, {Role::kSelectionBias, 1}).has_value());
  const ModelConfig plain = config_of("lfm2_moe", R"("use_expert_bias":false,"num_dense_layers":0,
      "norm_topk_prob":false,"routed_scaling_factor":2.5,"num_experts":8)");
  CHECK(experts(plain) == "8 8 8 8");
  CHECK(!plain.experts.selection_bias);
  CHECK(!plain.experts.normalise);
  CHECK(plain.experts.scale == 2.5f);
}

TEST_CASE("GGUF: LFM2's layers without key/value heads are convolutions") {
  const ModelConfig config = config_of(gguf_file("lfm2", 3, {0, 0, 1, 0, 2}));
  CHECK(config.family == "lfm2");
  CHECK(taps(config) == "33030");
  CHECK(config.kv_heads == 2);
  CHECK(config.heads_of(2).kv_heads == 1);
  CHECK(config.heads_of(4).kv_heads == 2);
  CHECK(config.ropes[0].theta == 1e6);
  CHECK(has(refusal(ErrorCode::kCorruption,
                    [] {
                      config_of(gguf_file("lfm2", 0, {0, 1}));
                    }),
            "shortconv.l_cache: expected 1 or more, found 0"));
  // No layer attends.
  CHECK(has(refusal(ErrorCode::kCorruption,
                    [] {
                      config_of(gguf_file("lfm2", 3, {0, 0}));
                    }),
            "attention.head_count_kv: expected key/value heads in one layer or more"));
}

TEST_CASE("GGUF: LFM2-MoE's scores are sigmoids, and a router of another kind is refused") {
  const auto file = [](std::uint32_t score) {
    GgufWriter writer = gguf_file("lfm2moe", 3, {0, 2});
    writer.add("lfm2moe.expert_count", std::uint32_t{4});
    writer.add("lfm2moe.expert_used_count", std::uint32_t{2});
    writer.add("lfm2moe.expert_feed_forward_length", std::uint32_t{24});
    writer.add("lfm2moe.expert_gating_func", score);
    writer.add_f32("blk.1.ffn_gate_inp.weight", {1}, {0});
    writer.add_f32("blk.1.exp_probs_b.bias", {1}, {0});
    return writer;
  };
  const ModelConfig config = config_of(file(2));
  CHECK(config.family == "lfm2_moe");
  CHECK(experts(config) == "0 4");
  CHECK(config.experts.sigmoid);
  CHECK(config.experts.selection_bias);
  CHECK(config.experts.normalise);
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { config_of(file(1)); }),
            "expert_gating_func 1 (2, a sigmoid, is)"));
}

}  // namespace triescope::test::test_lfm2_config
