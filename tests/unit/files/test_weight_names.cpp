// Where each family's weights lie: tensor, first row, order. Names are those of transformers'
// checkpoints and of llama.cpp's converter.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/files/weight_names.h"
#include "tests/unit/files/config_files.h"

namespace test_weight_names {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// "tensor", "tensor+row", "tensor+row^" (transposed), "tensor~heads" (interleaved).
std::string at(const ModelConfig& config, Role role, int layer = 1) {
  const WeightSlice slice = locate(config, {role, layer});
  return slice.tensor + (slice.first_row > 0 ? "+" + std::to_string(slice.first_row) : "") +
         (slice.transposed ? "^" : "") +
         (slice.interleaved_rows > 0 ? "~" + std::to_string(slice.heads) : "");
}

std::string shape(const ModelConfig& config, Role role) {
  const auto found = expected_shape(config, role);
  return found ? std::to_string(found->rows) + "x" + std::to_string(found->cols) : "none";
}

ModelConfig gpt2() {
  return config_from_json(
      R"({"model_type":"gpt2","n_embd":64,"n_head":4,"n_layer":3,"vocab_size":100})", "",
      "config.json");
}

}  // namespace

TEST_CASE("weight names: weights of a Llama folder by role") {
  const ModelConfig config = config_of("llama");
  const std::string layer = "model.layers.1.";
  CHECK(at(config, Role::kEmbedding) == "model.embed_tokens.weight");
  CHECK(at(config, Role::kHead) == "lm_head.weight");
  CHECK(at(config, Role::kFinalNorm) == "model.norm.weight");
  for (const auto& [role, name] : {std::pair(Role::kAttentionNorm, "input_layernorm.weight"),
                                   {Role::kQuery, "self_attn.q_proj.weight"},
                                   {Role::kQueryBias, "self_attn.q_proj.bias"},
                                   {Role::kKey, "self_attn.k_proj.weight"},
                                   {Role::kKeyBias, "self_attn.k_proj.bias"},
                                   {Role::kValue, "self_attn.v_proj.weight"},
                                   {Role::kValueBias, "self_attn.v_proj.bias"},
                                   {Role::kQueryNorm, "self_attn.q_norm.weight"},
                                   {Role::kKeyNorm, "self_attn.k_norm.weight"},
                                   {Role::kOutput, "self_attn.o_proj.weight"},
                                   {Role::kOutputBias, "self_attn.o_proj.bias"},
                                   {Role::kMlpNorm, "post_attention_layernorm.weight"},
                                   {Role::kGate, "mlp.gate_proj.weight"},
                                   {Role::kGateBias, "mlp.gate_proj.bias"},
                                   {Role::kUp, "mlp.up_proj.weight"},
                                   {Role::kUpBias, "mlp.up_proj.bias"},
                                   {Role::kDown, "mlp.down_proj.weight"},
                                   {Role::kDownBias, "mlp.down_proj.bias"}})
    CHECK(at(config, role) == layer + name);
}

TEST_CASE("weight names: weights of a GGUF by role; a Llama's q and k are interleaved by head") {
  GgufWriter writer = gguf_of("llama", 2);
  writer.add("llama.attention.head_count_kv", 1u);
  const ModelConfig config = config_of(writer);
  CHECK(at(config, Role::kEmbedding) == "token_embd.weight");
  CHECK(at(config, Role::kHead) == "output.weight");
  CHECK(at(config, Role::kFinalNorm) == "output_norm.weight");
  for (const auto& [role, name] : {std::pair(Role::kAttentionNorm, "attn_norm.weight"),
                                   {Role::kQuery, "attn_q.weight~2"},
                                   {Role::kQueryBias, "attn_q.bias~2"},
                                   {Role::kKey, "attn_k.weight~1"},
                                   {Role::kKeyBias, "attn_k.bias~1"},
                                   {Role::kValue, "attn_v.weight"},
                                   {Role::kValueBias, "attn_v.bias"},
                                   {Role::kQueryNorm, "attn_q_norm.weight"},
                                   {Role::kKeyNorm, "attn_k_norm.weight"},
                                   {Role::kOutput, "attn_output.weight"},
                                   {Role::kOutputBias, "attn_output.bias"},
                                   {Role::kPostAttentionNorm, "post_attention_norm.weight"},
                                   {Role::kMlpNorm, "ffn_norm.weight"},
                                   {Role::kGate, "ffn_gate.weight"},
                                   {Role::kUp, "ffn_up.weight"},
                                   {Role::kDown, "ffn_down.weight"},
                                   {Role::kPostMlpNorm, "post_ffw_norm.weight"}})
    CHECK(at(config, role) == std::string("blk.1.") + name);
  CHECK(at(config_of(gguf_of("qwen2", 2)), Role::kQuery) == "blk.1.attn_q.weight");
}

TEST_CASE("weight names: Gemma's norms around the MLP have names of their own") {
  for (const char* family : {"gemma2", "gemma3_text"}) {
    const ModelConfig config = config_of(family);
    CHECK(at(config, Role::kPostAttentionNorm) == "model.layers.1.post_attention_layernorm.weight");
    CHECK(at(config, Role::kMlpNorm) == "model.layers.1.pre_feedforward_layernorm.weight");
    CHECK(at(config, Role::kPostMlpNorm) == "model.layers.1.post_feedforward_layernorm.weight");
  }
}

TEST_CASE(
    "weight names: Phi-3's q, k, v lie in one tensor below each other, gate and up in another") {
  const ModelConfig config = config_of("phi3");  // q: 64 rows, k and v: 32
  const std::string qkv = "model.layers.1.self_attn.qkv_proj.weight";
  const std::string gate_up = "model.layers.1.mlp.gate_up_proj.weight";
  CHECK(at(config, Role::kQuery) == qkv);
  CHECK(at(config, Role::kKey) == qkv + "+64");
  CHECK(at(config, Role::kValue) == qkv + "+96");
  CHECK(at(config, Role::kGate) == gate_up);
  CHECK(at(config, Role::kUp) == gate_up + "+128");
  CHECK(at(config, Role::kDown) == "model.layers.1.mlp.down_proj.weight");
  const ModelConfig gguf = config_of(gguf_of("phi3", 2));  // q, k, v: 32 rows each
  CHECK(at(gguf, Role::kQuery) == "blk.1.attn_qkv.weight");
  CHECK(at(gguf, Role::kValue) == "blk.1.attn_qkv.weight+64");
  CHECK(at(gguf, Role::kGate) == "blk.1.ffn_up.weight");
  CHECK(at(gguf, Role::kUp) == "blk.1.ffn_up.weight+64");
}

TEST_CASE(
    "weight names: GPT-2's weights are stored the other way round in a folder, upright in a GGUF") {
  const ModelConfig config = gpt2();
  const std::string block = "transformer.h.1.";
  CHECK(at(config, Role::kEmbedding) == "transformer.wte.weight");
  CHECK(at(config, Role::kPositions) == "transformer.wpe.weight");
  CHECK(at(config, Role::kFinalNorm) == "transformer.ln_f.weight");
  CHECK(at(config, Role::kFinalNormBias) == "transformer.ln_f.bias");
  for (const auto& [role, name] : {std::pair(Role::kAttentionNorm, "ln_1.weight"),
                                   {Role::kAttentionNormBias, "ln_1.bias"},
                                   {Role::kMlpNorm, "ln_2.weight"},
                                   {Role::kMlpNormBias, "ln_2.bias"},
                                   {Role::kQuery, "attn.c_attn.weight^"},
                                   {Role::kKey, "attn.c_attn.weight+64^"},
                                   {Role::kValue, "attn.c_attn.weight+128^"},
                                   {Role::kQueryBias, "attn.c_attn.bias"},
                                   {Role::kKeyBias, "attn.c_attn.bias+64"},
                                   {Role::kValueBias, "attn.c_attn.bias+128"},
                                   {Role::kOutput, "attn.c_proj.weight^"},
                                   {Role::kOutputBias, "attn.c_proj.bias"},
                                   {Role::kUp, "mlp.c_fc.weight^"},
                                   {Role::kUpBias, "mlp.c_fc.bias"},
                                   {Role::kDown, "mlp.c_proj.weight^"},
                                   {Role::kDownBias, "mlp.c_proj.bias"}})
    CHECK(at(config, role) == block + name);
  const ModelConfig gguf = config_of(gguf_of("gpt2", 2));
  for (const auto& [role, name] : {std::pair(Role::kQuery, "attn_qkv.weight"),
                                   {Role::kKey, "attn_qkv.weight+32"},
                                   {Role::kValue, "attn_qkv.weight+64"},
                                   {Role::kQueryBias, "attn_qkv.bias"},
                                   {Role::kKeyBias, "attn_qkv.bias+32"},
                                   {Role::kValueBias, "attn_qkv.bias+64"},
                                   {Role::kAttentionNormBias, "attn_norm.bias"},
                                   {Role::kMlpNormBias, "ffn_norm.bias"},
                                   {Role::kUpBias, "ffn_up.bias"},
                                   {Role::kDownBias, "ffn_down.bias"}})
    CHECK(at(gguf, role) == std::string("blk.1.") + name);
  CHECK(at(gguf, Role::kPositions) == "position_embd.weight");
  CHECK(at(gguf, Role::kFinalNormBias) == "output_norm.bias");
}

TEST_CASE("weight names: shapes of a model's weights, and which it has") {
  const ModelConfig llama =
      config_of("llama", R"("head_dim":8,"attention_bias":true,"mlp_bias":true)");
  for (const auto& [role, expected] : {std::pair(Role::kEmbedding, "100x64"),
                                       {Role::kHead, "100x64"},
                                       {Role::kPositions, "none"},
                                       {Role::kFinalNorm, "64x1"},
                                       {Role::kFinalNormBias, "none"},
                                       {Role::kAttentionNorm, "64x1"},
                                       {Role::kAttentionNormBias, "none"},
                                       {Role::kQuery, "32x64"},
                                       {Role::kQueryBias, "32x1"},
                                       {Role::kKey, "16x64"},
                                       {Role::kKeyBias, "16x1"},
                                       {Role::kValue, "16x64"},
                                       {Role::kValueBias, "16x1"},
                                       {Role::kQueryNorm, "none"},
                                       {Role::kKeyNorm, "none"},
                                       {Role::kOutput, "64x32"},
                                       {Role::kOutputBias, "64x1"},
                                       {Role::kPostAttentionNorm, "none"},
                                       {Role::kMlpNorm, "64x1"},
                                       {Role::kMlpNormBias, "none"},
                                       {Role::kGate, "128x64"},
                                       {Role::kGateBias, "128x1"},
                                       {Role::kUp, "128x64"},
                                       {Role::kUpBias, "128x1"},
                                       {Role::kDown, "64x128"},
                                       {Role::kDownBias, "64x1"},
                                       {Role::kPostMlpNorm, "none"}}) {
    CAPTURE(static_cast<int>(role));
    CHECK(shape(llama, role) == expected);
  }
  const ModelConfig gpt = gpt2();
  for (const auto& [role, expected] : {std::pair(Role::kHead, "none"),
                                       {Role::kPositions, "1024x64"},
                                       {Role::kFinalNormBias, "64x1"},
                                       {Role::kAttentionNormBias, "64x1"},
                                       {Role::kMlpNormBias, "64x1"},
                                       {Role::kGate, "none"},
                                       {Role::kGateBias, "none"},
                                       {Role::kUpBias, "256x1"}}) {
    CAPTURE(static_cast<int>(role));
    CHECK(shape(gpt, role) == expected);
  }
  const ModelConfig gemma = config_of("gemma3_text");
  CHECK(shape(gemma, Role::kQueryNorm) == "256x1");
  CHECK(shape(gemma, Role::kKeyNorm) == "256x1");
  CHECK(shape(gemma, Role::kPostAttentionNorm) == "64x1");
  CHECK(shape(gemma, Role::kPostMlpNorm) == "64x1");
  CHECK(shape(gemma, Role::kQueryBias) == "none");
}

TEST_CASE("weight names: weights from the first norm of a layer on are a layer's") {
  CHECK(!is_of_layer(Role::kEmbedding));
  CHECK(!is_of_layer(Role::kHead));
  CHECK(is_of_layer(Role::kAttentionNorm));
  CHECK(is_of_layer(Role::kPostMlpNorm));
}

TEST_CASE("weight names: every expert of a layer is a part of its own") {
  ModelConfig config = config_of("llama");
  const auto count = [&](Role role) {
    return std::ranges::count(parts_of(config), role, &Part::role);
  };
  const auto layers = static_cast<std::ptrdiff_t>(config.layers.size());
  REQUIRE(layers > 1);
  CHECK(count(Role::kUp) == layers);
  CHECK(count(Role::kFinalNorm) == 1);
  CHECK(count(Role::kUpBias) == 0);
  config.layers[1].experts = 4;
  CHECK(count(Role::kUp) == layers + 3);
  CHECK(count(Role::kQuery) == layers);
  std::vector<int> experts;
  for (const Part& part : parts_of(config))
    if (part.role == Role::kDown && part.layer == 1) experts.push_back(part.expert);
  CHECK(experts == std::vector{0, 1, 2, 3});

  const auto where = [&](const Part& part) {
    const WeightSlice slice = locate(config, part);
    return slice.tensor + "+" + std::to_string(slice.first_row);
  };
  CHECK(where({Role::kGate, 1, 3}) == "model.layers.1.mlp.experts.3.gate_proj.weight+0");
  CHECK(where({Role::kGate, 0}) == "model.layers.0.mlp.gate_proj.weight+0");
  config.from_gguf = true;
  CHECK(where({Role::kGate, 1, 3}) ==
        "blk.1.ffn_gate_exps.weight+" + std::to_string(3 * config.intermediate));
  CHECK(where({Role::kDown, 1, 3}) ==
        "blk.1.ffn_down_exps.weight+" + std::to_string(3 * config.hidden));
  CHECK(where({Role::kDown, 0}) == "blk.0.ffn_down.weight+0");
}

}  // namespace test_weight_names
