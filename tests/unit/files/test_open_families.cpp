// What config.json and GGUF metadata mean in the open research families: defaults, what a file may
// change, what is refused. Defaults are those of transformers' configuration classes; what a GGUF
// leaves out is llama.cpp's.
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/files/weight_names.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace test_open_families {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// query/key/value, output, MLP, head.
std::string biases(const ModelConfig& config) {
  return std::string(config.qkv_bias ? "q" : ".") + (config.output_bias ? "o" : ".") +
         (config.mlp_bias ? "m" : ".") + (config.head_bias ? "h" : ".");
}

// Norms before and after a branch, the layer side by side, one norm for both of its branches.
std::string shape_of(const ModelConfig& config) {
  return std::string(config.pre_norms ? "b" : ".") + (config.post_norms ? "a" : ".") +
         (config.parallel_residual ? "p" : ".") + (config.shared_norm ? "s" : ".");
}

}  // namespace

TEST_CASE("Granite: four multipliers, 1 where they are not given, and one of them divides") {
  const ModelConfig plain = config_of("granite");
  CHECK(plain.embedding_scale == 1);
  CHECK(plain.attention_scale == 1);
  CHECK(plain.residual_scale == 1);
  CHECK(plain.logit_scale == 1);
  const ModelConfig config = config_of(
      "granite", R"("embedding_multiplier":12,"attention_multiplier":0.015625,)"
                 R"("residual_multiplier":0.22,"logits_scaling":8,"attention_bias":true)");
  CHECK(config.embedding_scale == 12);
  CHECK(config.attention_scale == 0.015625f);
  CHECK(config.residual_scale == 0.22f);
  CHECK(config.logit_scale == 0.125f);
  CHECK(biases(config) == "qo..");
  CHECK(has(refused(ErrorCode::kCorruption, "granite", R"("logits_scaling":0)"), "scales above 0"));

  GgufWriter writer = gguf_of("granite", 2);
  writer.add("granite.embedding_scale", 12.0f);
  writer.add("granite.residual_scale", 0.22f);
  writer.add("granite.logit_scale", 8.0f);
  const ModelConfig gguf = config_of(writer);
  CHECK(gguf.embedding_scale == 12);
  CHECK(gguf.residual_scale == 0.22f);
  CHECK(gguf.logit_scale == 0.125f);
  CHECK(gguf.attention_scale == 0.25f);  // no key: 1 / sqrt(head_dim)
  CHECK(gguf.interleaved_rows == 16);
  CHECK(ropes(gguf) == "00");
  writer.add_raw("granite.rope.scaling.finetuned", 7, std::string(1, 0));
  CHECK(ropes(config_of(writer)) == "--");
}

TEST_CASE("GPT-NeoX: q, k and v head by head in one tensor, a quarter of a head rotates") {
  const ModelConfig config = config_of("gpt_neox", R"("rotary_pct":0.5)");
  CHECK(shape_of(config) == "b.p.");
  CHECK(biases(config) == "qom.");
  CHECK(config.norm == NormKind::kLayer);
  CHECK(config.activation == Activation::kGelu);
  CHECK(!config.gated_mlp);
  CHECK(config.kv_heads == 4);  // whatever num_key_value_heads says
  CHECK(config.ropes[0].dims == 8);
  CHECK(config_of("gpt_neox").ropes[0].dims == 4);
  CHECK(config_of("gpt_neox", R"("rotary_emb_base":5000)").ropes[0].theta == 5000);
  CHECK(shape_of(config_of("gpt_neox", R"("use_parallel_residual":false)")) == "b...");
  CHECK(biases(config_of("gpt_neox", R"("attention_bias":false)")) == "..m.");

  const WeightSlice key = locate(config, {Role::kKey, 1});
  CHECK(key.tensor == "gpt_neox.layers.1.attention.query_key_value.weight");
  CHECK(key.first_row == 16);
  CHECK(stored_row(key, 0, 64) == 0);
  CHECK(stored_row(key, 17, 64) == 49);  // row 1 of head 1, whose q begins at 48
  CHECK(rows_spanned(key, 64) == 160);   // to the end of the last head's k
  const ModelConfig gguf = config_of(gguf_of("gptneox", 2));
  CHECK(shape_of(gguf) == "b.p.");
  CHECK(locate(gguf, {Role::kValue, 1}).tensor == "blk.1.attn_qkv.weight");
  CHECK(locate(gguf, {Role::kValue, 1}).first_row == 64);
}

TEST_CASE("OLMo 2 and 3: norms after a branch, q and k over all heads, windows by layer") {
  const ModelConfig two = config_of("olmo2");
  CHECK(shape_of(two) == ".a..");
  CHECK(two.qk_norm == QkNorm::kWhole);
  CHECK(windows(two) == "....");
  CHECK(expected_shape(two, Role::kQueryNorm) == WeightShape{64, 1});
  CHECK(expected_shape(two, Role::kKeyNorm) == WeightShape{32, 1});
  CHECK(!expected_shape(two, Role::kAttentionNorm));
  CHECK(!expected_shape(two, Role::kMlpNorm));
  CHECK(expected_shape(two, Role::kPostMlpNorm) == WeightShape{64, 1});
  CHECK(has(refused(ErrorCode::kNotSupported, "olmo2", R"("clip_qkv":8)"), "clip_qkv"));

  const ModelConfig three = config_of("olmo3");
  CHECK(windows(three) == "www.");
  CHECK(three.layers[0].window == 4096);
  CHECK(ropes(three) == "1110");
  CHECK(three.ropes[0].theta == 500000);
  // rope_theta and rope_scaling are those of the full layers.
  const ModelConfig scaled =
      config_of("olmo3", R"("rope_theta":10000,"rope_scaling":{"rope_type":"linear","factor":2})");
  CHECK(scaled.ropes[0].theta == 10000);
  CHECK(scaled.ropes[0].kind == RopeKind::kLinear);
  CHECK(scaled.ropes[1].theta == 500000);
  CHECK(scaled.ropes[1].kind == RopeKind::kDefault);

  GgufWriter writer = gguf_of("olmo2", 4);
  CHECK(windows(config_of(writer)) == "....");
  writer.add("olmo2.attention.sliding_window", std::uint32_t{8});
  CHECK(windows(config_of(writer)) == "www.");
  CHECK(ropes(config_of(writer)) == "1110");
}

TEST_CASE("GLM-4: norms on both sides, half a head rotates in pairs, gate and up in one tensor") {
  const ModelConfig config = config_of("glm4");
  CHECK(shape_of(config) == "ba..");
  CHECK(config.head_dim == 128);
  CHECK(config.attention_scale == doctest::Approx(1 / std::sqrt(128.0)).epsilon(1e-7));
  CHECK(config.ropes[0].dims == 64);
  CHECK(config.interleaved_rows == 64);
  CHECK(biases(config) == "q...");
  CHECK(biases(config_of("glm4", R"("attention_bias":false)")) == "....");
  const WeightSlice query = locate(config, {Role::kQuery, 0});
  CHECK(stored_row(query, 1, 512) == 2);
  CHECK(stored_row(query, 32, 512) == 1);
  CHECK(stored_row(query, 100, 512) == 100);  // beyond the rotated part
  CHECK(locate(config, {Role::kUp, 0}).tensor == "model.layers.0.mlp.gate_up_proj.weight");
  CHECK(locate(config, {Role::kUp, 0}).first_row == 128);
  CHECK(locate(config, {Role::kPostAttentionNorm, 0}).tensor ==
        "model.layers.0.post_self_attn_layernorm.weight");
  CHECK(locate(config, {Role::kMlpNorm, 0}).tensor ==
        "model.layers.0.post_attention_layernorm.weight");
  CHECK(locate(config_of(gguf_of("glm4", 2)), {Role::kUp, 1}).tensor == "blk.1.ffn_up.weight");
}

TEST_CASE("Command R7B: one norm without bias, layers without a window have no positions") {
  const ModelConfig config = config_of("cohere2");
  CHECK(shape_of(config) == "b.ps");
  CHECK(!config.norm_bias);
  CHECK(config.tied_embeddings);
  CHECK(config.logit_scale == 0.0625f);
  CHECK(windows(config) == "www.");
  CHECK(ropes(config) == "000-");
  CHECK(config.interleaved_rows == 16);
  CHECK(!expected_shape(config, Role::kAttentionNormBias));
  CHECK(!expected_shape(config, Role::kMlpNorm));
  CHECK(ropes(config_of("cohere2", R"("sliding_window_pattern":2)")) == "0-0-");
  CHECK(has(refused(ErrorCode::kNotSupported, "cohere2", R"("head_dim":32)"), "head_dim"));
  CHECK(has(refused(ErrorCode::kCorruption, "cohere2", R"("sliding_window":null)"), "a window"));
  GgufWriter writer = gguf_of("cohere2", 4);
  writer.add("cohere2.logit_scale", 0.5f);
  CHECK(config_of(writer).logit_scale == 0.5f);
  CHECK(ropes(config_of(writer)) == "000-");
}

TEST_CASE("open families: StarCoder2, EXAONE 4, StableLM, Phi and Seed-OSS: what each leaves out") {
  const ModelConfig code = config_of("starcoder2", R"("sliding_window":8)");
  CHECK(biases(code) == "qom.");
  CHECK(windows(code) == "wwww");
  CHECK(windows(config_of("starcoder2")) == "....");
  CHECK(code.tied_embeddings);
  CHECK(code.activation == Activation::kGeluTanh);
  CHECK(biases(config_of("starcoder2", R"("use_bias":false)")) == "....");

  const ModelConfig exaone = config_of("exaone4");
  CHECK(shape_of(exaone) == ".a..");
  CHECK(exaone.qk_norm == QkNorm::kHeads);
  CHECK(windows(exaone) == "www.");
  CHECK(ropes(exaone) == "000-");
  const std::string full =
      R"("layer_types":["full_attention","full_attention","full_attention","full_attention"])";
  CHECK(ropes(config_of("exaone4", R"("sliding_window":null,)" + full)) == "0000");
  CHECK(has(refused(ErrorCode::kCorruption, "exaone4", R"("sliding_window":null)"), "layer_types"));
  CHECK(ropes(config_of(gguf_of("exaone4", 4))) == "0000");

  const ModelConfig stable = config_of("stablelm");
  CHECK(shape_of(stable) == "b...");
  CHECK(biases(stable) == "....");
  CHECK(stable.ropes[0].dims == 4);
  const ModelConfig large =
      config_of("stablelm", R"("use_parallel_residual":true,"qk_layernorm":true)");
  CHECK(shape_of(large) == "b.ps");
  CHECK(large.qk_norm == QkNorm::kOwnHeads);
  CHECK(locate(large, {Role::kKeyNorm, 1}).names() ==
        std::vector<std::string>{"model.layers.1.self_attn.k_layernorm.norms.0.weight",
                                 "model.layers.1.self_attn.k_layernorm.norms.1.weight"});

  const ModelConfig phi = config_of("phi");
  CHECK(shape_of(phi) == "b.ps");
  CHECK(biases(phi) == "qomh");
  CHECK(phi.ropes[0].dims == 8);
  CHECK(has(refused(ErrorCode::kNotSupported, "phi", R"("qk_layernorm":true)"), "qk_layernorm"));
  CHECK(biases(config_of(gguf_of("phi2", 2))) == "qomh");

  const ModelConfig seed = config_of("seed_oss");
  CHECK(biases(seed) == "q...");
  CHECK(seed.head_dim == 128);
  CHECK(locate(config_of(gguf_of("seed_oss", 2)), {Role::kMlpNorm, 1}).tensor ==
        "blk.1.post_attention_norm.weight");
}

TEST_CASE(
    "open families: Ministral 3 scales q by its position; mistral3 is its text part's family") {
  const ModelConfig config = config_of("ministral3");
  CHECK(config.query_scale.beta == 0.1);
  CHECK(config.query_scale.every == 16384);
  CHECK(config.ropes[0].kind == RopeKind::kYarn);
  CHECK(config.ropes[0].attention_factor == 1);
  CHECK(windows(config) == "....");
  GgufWriter writer = gguf_of("mistral3", 2);
  writer.add("mistral3.rope.scaling.original_context_length", std::uint32_t{64});
  CHECK(config_of(writer).query_scale.beta == 0);
  writer.add("mistral3.attention.temperature_scale", 0.25f);
  CHECK(config_of(writer).query_scale.beta == 0.25);
  CHECK(config_of(writer).query_scale.every == 64);

  const auto whole = [](const std::string& outer, const std::string& type) {
    return config_from_json(
        R"({"model_type":"mistral3",)" + outer + R"("text_config":)" + config_json(type) + "}", "",
        "config.json");
  };
  CHECK(whole("", "mistral").family == "mistral");
  CHECK(whole("", "mistral").tied_embeddings);
  CHECK(!whole(R"("tie_word_embeddings":false,)", "mistral").tied_embeddings);
  CHECK(whole(R"("eos_token_id":7,)", "ministral3").eos_token_ids == std::vector<std::int32_t>{7});
  CHECK(whole("", "ministral3").family == "ministral3");
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { whole("", "pixtral"); }), "'pixtral'"));
  CHECK(has(refusal(ErrorCode::kNotSupported,
                    [&] { whole(R"("quantization_config":{"quant_method":"aqlm"},)", "mistral"); }),
            "quantization_config"));
}

TEST_CASE("open families: a scale that a GGUF's family does not have is refused by name") {
  for (const char* key : {"logit_scale", "residual_scale", "embedding_scale", "attention.scale",
                          "attention.temperature_scale"}) {
    GgufWriter writer = gguf_of("olmo2", 2);
    writer.add(std::string("olmo2.") + key, 0.5f);
    CHECK(has(refusal(ErrorCode::kNotSupported, [&] { config_of(writer); }), key));
  }
}

}  // namespace test_open_families
