// What each family's config.json and GGUF metadata mean: every default, and what a file may change.
// Defaults are those of transformers' configuration classes; what a GGUF leaves out is llama.cpp's.
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace test_family_configs {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// query/key/value, output, MLP.
std::string biases(const ModelConfig& config) {
  return std::string(config.qkv_bias ? "q" : ".") + (config.output_bias ? "o" : ".") +
         (config.mlp_bias ? "m" : ".");
}

GgufWriter with_tensor(GgufWriter writer, const std::string& name) {
  writer.add_f32(name, {1}, {0.0f});
  return writer;
}

}  // namespace

TEST_CASE("family configs: what a config.json leaves out has its default") {
  const ModelConfig config = config_from_json(
      R"({"model_type":"llama","hidden_size":64,"num_attention_heads":4,"intermediate_size":128,
          "vocab_size":100,"num_hidden_layers":2,"bos_token_id":[5,6]})",
      "", "config.json");
  CHECK(config.kv_heads == 4);
  CHECK(config.head_dim == 16);
  CHECK(config.context == 2048);
  CHECK(config.norm_eps == 1e-6f);
  CHECK(config.attention_scale == 0.25f);
  CHECK(config.activation == Activation::kSilu);
  CHECK(config.eos_token_ids.empty());
  CHECK(config.bos_token_id == 5);
  CHECK(config_of("llama").bos_token_id == -1);
  CHECK(config_of("llama").norm_eps == 1e-5f);
  CHECK(config_of("llama", R"("head_dim":64)").attention_scale == 0.125f);
}

TEST_CASE("family configs: a hidden size that the heads do not divide needs a head_dim") {
  const auto with = [](const std::string& more) {
    return config_from_json(
        R"({"model_type":"llama","hidden_size":66,"num_attention_heads":4,"intermediate_size":128,
            "vocab_size":100,"num_hidden_layers":2)" +
            more + "}",
        "", "config.json");
  };
  CHECK(with(R"(,"head_dim":16)").head_dim == 16);
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { with(""); }),
            "hidden_size: expected a multiple of num_attention_heads = 4, found 66"));
}

TEST_CASE("family configs: activations by all their names") {
  const auto activation = [](const std::string& name) {
    return config_of("llama", R"("hidden_act":")" + name + "\"").activation;
  };
  for (const char* name : {"silu", "swish"}) CHECK(activation(name) == Activation::kSilu);
  for (const char* name : {"gelu_pytorch_tanh", "gelu_new", "gelu_fast"})
    CHECK(activation(name) == Activation::kGeluTanh);
  CHECK(activation("gelu") == Activation::kGelu);
}

TEST_CASE(
    "family configs: layer_types names each layer's attention, and needs a window for its sliding ones") {
  const std::string types =
      R"("layer_types":["full_attention","sliding_attention","full_attention","sliding_attention"])";
  const std::string window = R"(,"use_sliding_window":true,"sliding_window":)";
  CHECK(windows(config_of("qwen2", types + window + "8")) == ".w.w");
  CHECK(config_of("qwen2", types + window + "8").layers[1].window == 8);
  CHECK(config_of("qwen2", types + window + "1").layers[1].window == 1);
  CHECK(has(refused(ErrorCode::kCorruption, "qwen2", types + window + "0"),
            "a window of 1 or more for its sliding layers"));
  CHECK(has(refused(ErrorCode::kCorruption, "qwen2", R"("layer_types":["full_attention"])"),
            "layer_types: expected one entry a layer"));
}

TEST_CASE("Llama: biases as the config says") {
  CHECK(biases(config_of("llama")) == "...");
  CHECK(biases(config_of("llama", R"("attention_bias":true)")) == "qo.");
  CHECK(biases(config_of("llama", R"("mlp_bias":true)")) == "..m");
  CHECK(config_of(gguf_of("llama", 2)).interleaved_rows == 16);
}

TEST_CASE(
    "family configs: Mistral has its window in every layer, Ministral in those that layer_types names") {
  const std::string types =
      R"("layer_types":["full_attention","sliding_attention","full_attention","full_attention"])";
  CHECK(windows(config_of("mistral")) == "wwww");
  CHECK(has(refused(ErrorCode::kNotSupported, "mistral", types), "layer_types"));
  CHECK(windows(config_of("ministral")) == "wwww");
  CHECK(config_of("ministral").layers[3].window == 4096);
  CHECK(windows(config_of("ministral", types)) == ".w..");
  CHECK(config_of("ministral", types + R"(,"sliding_window":8)").layers[1].window == 8);
  CHECK(windows(config_of("ministral", R"("sliding_window":null)")) == "....");
  CHECK(config_of(gguf_of("mistral", 2)).interleaved_rows == 16);
  CHECK(config_of(gguf_of("mistral", 2)).family == "mistral");
}

TEST_CASE("Qwen2: biases on q, k, v; windows from layer 28 on") {
  const ModelConfig config = config_of("qwen2", R"("use_sliding_window":true)", 30);
  CHECK(biases(config) == "q..");
  CHECK(windows(config) == std::string(28, '.') + "ww");
  CHECK(config.layers[28].window == 4096);
  CHECK(config.qk_norm == QkNorm::kNone);
  CHECK(config_of(gguf_of("qwen2", 2)).interleaved_rows == 0);
}

TEST_CASE("Qwen3: norms on q and k, a head of 128 whatever the hidden size") {
  const ModelConfig config = config_of("qwen3");
  CHECK(config.head_dim == 128);
  CHECK(config.attention_scale == doctest::Approx(1 / std::sqrt(128.0)).epsilon(1e-7));
  CHECK(config.ropes[0].dims == 128);
  CHECK(config.qk_norm == QkNorm::kHeads);
  CHECK(biases(config) == "...");
  CHECK(biases(config_of("qwen3", R"("attention_bias":true)")) == "qo.");
  CHECK(config_of("qwen3", R"("head_dim":16)").attention_scale == 0.25f);
  CHECK(config_of(gguf_of("qwen3", 2)).qk_norm == QkNorm::kHeads);
}

TEST_CASE("SmolLM3: every fourth layer without rope, or those that the config says") {
  const ModelConfig config = config_of("smollm3", "", 9);
  CHECK(ropes(config) == "000-000-0");
  CHECK(config.tied_embeddings);
  CHECK(config.ropes[0].theta == 2000000);
  CHECK(ropes(config_of("smollm3", R"("no_rope_layer_interval":2)")) == "0-0-");
  CHECK(ropes(config_of("smollm3", R"("no_rope_layers":[1,0,0,1])")) == "0--0");
  CHECK(has(refused(ErrorCode::kCorruption, "smollm3", R"("no_rope_layers":[1,0,0])"),
            "one entry a layer"));
  CHECK(has(refused(ErrorCode::kCorruption, "smollm3", R"("no_rope_layer_interval":0)"),
            "1 or more"));
  CHECK(biases(config_of("smollm3", R"("attention_bias":true)")) == "qo.");
  CHECK(biases(config_of("smollm3", R"("mlp_bias":true)")) == "..m");
  // The window is that of the layers without rope, unless layer_types names others.
  const std::string window = R"("use_sliding_window":true,"sliding_window":8)";
  CHECK(windows(config_of("smollm3", window)) == "...w");
  CHECK(windows(config_of("smollm3", R"("sliding_window":8)")) == "....");
  CHECK(
      windows(config_of(
          "smollm3",
          window +
              R"(,"layer_types":["sliding_attention","full_attention","full_attention","full_attention"])")) ==
      "w...");
  const ModelConfig gguf = config_of(gguf_of("smollm3", 9));
  CHECK(ropes(gguf) == "000-000-0");
  CHECK(gguf.interleaved_rows == 16);
}

TEST_CASE("Phi-3: KV is valid up to the original context where longrope switches") {
  const std::string eight = "[1,1,1,1,1,1,1,1]";
  const ModelConfig plain = config_of("phi3");
  CHECK(plain.kv_valid_until == 0);
  CHECK(windows(plain) == "....");
  const ModelConfig longrope =
      config_of("phi3", R"("original_max_position_embeddings":64,"sliding_window":8,)"
                        R"("rope_scaling":{"type":"longrope","short_factor":)" +
                            eight + R"(,"long_factor":)" + eight + "}");
  CHECK(longrope.kv_valid_until == 64);
  CHECK(windows(longrope) == "wwww");
  CHECK(has(
      refused(ErrorCode::kNotSupported, "phi3", R"("rope_scaling":{"type":"linear","factor":2})"),
      "a rope type other than default and longrope in phi3"));
  GgufWriter gguf = gguf_of("phi3", 2);
  CHECK(config_of(gguf).kv_valid_until == 0);
  gguf.add("phi3.rope.scaling.original_context_length", std::uint32_t{32});
  for (const char* name : {"rope_factors_long.weight", "rope_factors_short.weight"})
    gguf.add_f32(name, {8}, std::vector<float>(8, 1.0f));
  CHECK(config_of(gguf).kv_valid_until == 32);
  CHECK(config_of(gguf).interleaved_rows == 0);
}

TEST_CASE("Gemma 2: head of 256, norms around everything, soft caps, every other layer slides") {
  const ModelConfig config = config_of("gemma2");
  CHECK(config.head_dim == 256);
  CHECK(config.attention_scale == 0.0625f);
  CHECK(config.embedding_scale == 8);
  CHECK(config.norm_plus_one);
  CHECK(config.post_norms);
  CHECK(config.qk_norm == QkNorm::kNone);
  CHECK(config.tied_embeddings);
  CHECK(config.activation == Activation::kGeluTanh);
  CHECK(config.attention_softcap == 50);
  CHECK(config.logit_softcap == 30);
  CHECK(windows(config) == "w.w.");
  CHECK(config.layers[2].window == 4096);
  CHECK(ropes(config) == "0000");
  CHECK(biases(config) == "...");
  const ModelConfig other = config_of(
      "gemma2", R"("head_dim":32,"query_pre_attn_scalar":64,"attn_logit_softcapping":null,)"
                R"("final_logit_softcapping":20,"hidden_activation":"gelu","attention_bias":true,)"
                R"("tie_word_embeddings":false)");
  CHECK(other.head_dim == 32);
  CHECK(other.attention_scale == 0.125f);
  CHECK(other.attention_softcap == 0);
  CHECK(other.logit_softcap == 20);
  CHECK(other.activation == Activation::kGelu);
  CHECK(biases(other) == "qo.");
  CHECK(!other.tied_embeddings);
}

TEST_CASE("Gemma 3: one layer in six sees all, by a rope of its own; no soft caps") {
  const ModelConfig config = config_of("gemma3_text", "", 8);
  CHECK(windows(config) == "wwwww.ww");
  CHECK(ropes(config) == "11111011");
  CHECK(config.layers[0].window == 4096);
  CHECK(config.qk_norm == QkNorm::kHeads);
  CHECK(config.norm_plus_one);
  CHECK(config.attention_softcap == 0);
  CHECK(config.logit_softcap == 0);
  REQUIRE(config.ropes.size() == 2);
  CHECK(config.ropes[0].theta == 1e6);
  CHECK(config.ropes[1].theta == 1e4);
  CHECK(config.ropes[1].dims == 256);
  CHECK(windows(config_of("gemma3_text", R"("sliding_window_pattern":2)")) == "w.w.");
  CHECK(has(refused(ErrorCode::kCorruption, "gemma3_text", R"("sliding_window_pattern":0)"),
            "1 or more"));
  // Scaling is the global rope's alone.
  const ModelConfig scaled =
      config_of("gemma3_text", R"("rope_theta":5e5,"rope_local_base_freq":2e4,)"
                               R"("rope_scaling":{"rope_type":"linear","factor":8})");
  CHECK(scaled.ropes[0].kind == RopeKind::kLinear);
  CHECK(scaled.ropes[0].factor == 8);
  CHECK(scaled.ropes[0].theta == 5e5);
  CHECK(scaled.ropes[1].kind == RopeKind::kDefault);
  CHECK(scaled.ropes[1].theta == 2e4);
  // The newer spelling: by type of layer.
  const ModelConfig by_type = config_of(
      "gemma3_text",
      R"("rope_parameters":{"full_attention":{"rope_type":"linear","factor":4,"rope_theta":3e5},)"
      R"("sliding_attention":{"rope_type":"default","rope_theta":3e4}})");
  CHECK(by_type.ropes[0].factor == 4);
  CHECK(by_type.ropes[0].theta == 3e5);
  CHECK(by_type.ropes[1].theta == 3e4);
  const ModelConfig global_only =
      config_of("gemma3_text", R"("rope_parameters":{"full_attention":{"rope_theta":3e5}})");
  CHECK(global_only.ropes[0].theta == 3e5);
  CHECK(global_only.ropes[1].theta == 1e4);
}

TEST_CASE("GGUF: Gemma's norms have their 1, its soft caps and ropes their defaults") {
  const ModelConfig gemma2 = config_of(gguf_of("gemma2", 4));
  CHECK(!gemma2.norm_plus_one);
  CHECK(gemma2.post_norms);
  CHECK(gemma2.activation == Activation::kGeluTanh);
  CHECK(gemma2.attention_softcap == 50);
  CHECK(gemma2.logit_softcap == 30);
  CHECK(gemma2.qk_norm == QkNorm::kNone);
  GgufWriter capped = gguf_of("gemma2", 4);
  capped.add("gemma2.attn_logit_softcapping", 20.0f);
  capped.add("gemma2.final_logit_softcapping", 10.0f);
  CHECK(config_of(capped).attention_softcap == 20);
  CHECK(config_of(capped).logit_softcap == 10);
  GgufWriter writer = gguf_of("gemma3", 7);
  writer.add("gemma3.attention.sliding_window", std::uint32_t{16});
  const ModelConfig gemma3 = config_of(writer);
  CHECK(gemma3.family == "gemma3_text");
  CHECK(gemma3.qk_norm == QkNorm::kHeads);
  CHECK(gemma3.post_norms);
  CHECK(gemma3.logit_softcap == 0);
  CHECK(gemma3.attention_softcap == 0);
  CHECK(ropes(gemma3) == "1111101");
  REQUIRE(gemma3.ropes.size() == 2);
  CHECK(gemma3.ropes[0].theta == 1e6);
  CHECK(gemma3.ropes[1].theta == 1e4);
  CHECK(gemma3.ropes[1].dims == 16);
  writer.add("gemma3.rope.freq_base", 5000.0f);
  CHECK(config_of(writer).ropes[0].theta == 5000);
  CHECK(config_of(writer).ropes[1].theta == 1e4);
  writer.add("gemma3.rope.freq_base_swa", 7000.0f);
  CHECK(config_of(writer).ropes[1].theta == 7000);
}

TEST_CASE("GPT-2: layer norms, biases, learned positions, no rope") {
  const std::string sizes =
      R"({"model_type":"gpt2","n_embd":64,"n_head":4,"n_layer":3,"vocab_size":100)";
  const auto with = [&](const std::string& more) {
    return config_from_json(sizes + (more.empty() ? "" : ",") + more + "}", "", "config.json");
  };
  const ModelConfig config = with("");
  CHECK(config.layers.size() == 3);
  CHECK(config.heads == 4);
  CHECK(config.kv_heads == 4);
  CHECK(config.head_dim == 16);
  CHECK(config.intermediate == 256);
  CHECK(config.context == 1024);
  CHECK(config.norm == NormKind::kLayer);
  CHECK(config.norm_eps == 1e-5f);
  CHECK(config.activation == Activation::kGeluTanh);
  CHECK(!config.gated_mlp);
  CHECK(biases(config) == "qom");
  CHECK(config.learned_positions);
  CHECK(config.tied_embeddings);
  CHECK(config.ropes.empty());
  CHECK(ropes(config) == "---");
  CHECK(config.attention_scale == 0.25f);
  const ModelConfig other =
      with(R"("n_inner":96,"n_positions":32,"layer_norm_epsilon":1e-3,"scale_attn_weights":false,)"
           R"("activation_function":"gelu","tie_word_embeddings":false)");
  CHECK(other.intermediate == 96);
  CHECK(other.context == 32);
  CHECK(other.norm_eps == 1e-3f);
  CHECK(other.attention_scale == 1);
  CHECK(other.activation == Activation::kGelu);
  CHECK(!other.tied_embeddings);
  for (const char* key : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"})
    CHECK(has(refusal(ErrorCode::kNotSupported, [&] { with(std::string("\"") + key + "\":true"); }),
              key));
  CHECK(has(
      refusal(ErrorCode::kCorruption,
              [&] {
                config_from_json(
                    R"({"model_type":"gpt2","n_embd":66,"n_head":4,"n_layer":3,"vocab_size":9})",
                    "", "config.json");
              }),
      "n_embd: expected a multiple of n_head"));
  const ModelConfig gguf = config_of(gguf_of("gpt2", 3));
  CHECK(gguf.activation == Activation::kGeluTanh);
  CHECK(gguf.norm == NormKind::kLayer);
  CHECK(!gguf.gated_mlp);
  CHECK(gguf.learned_positions);
  CHECK(gguf.ropes.empty());
  CHECK(ropes(gguf) == "---");
  CHECK(biases(gguf) == "qom");
}

TEST_CASE("GGUF: what metadata leave out has its default") {
  const ModelConfig config = config_of(gguf_of("llama", 3));
  CHECK(config.from_gguf);
  CHECK(config.name == "model.gguf");
  CHECK(config.hidden == 64);
  CHECK(config.heads == 2);
  CHECK(config.kv_heads == 2);
  CHECK(config.head_dim == 16);
  CHECK(config.intermediate == 64);
  CHECK(config.context == 128);
  CHECK(config.vocab_size == 8);
  CHECK(config.layers.size() == 3);
  CHECK(config.norm_eps == 1e-5f);
  CHECK(config.attention_scale == 0.25f);
  CHECK(config.tied_embeddings);
  CHECK(biases(config) == "...");
  CHECK(config.eos_token_ids.empty());
  CHECK(config.bos_token_id == -1);
  GgufWriter few;
  few.add("general.architecture", std::string("llama"));
  for (const auto& [key, value] : {std::pair("embedding_length", 64u),
                                   {"attention.head_count", 4u},
                                   {"feed_forward_length", 64u},
                                   {"context_length", 128u},
                                   {"block_count", 1u}})
    few.add(std::string("llama.") + key, std::uint32_t{value});
  few.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  few.add_f32("token_embd.weight", {64, 8}, std::vector<float>(512));
  CHECK(config_of(few).head_dim == 16);  // hidden / heads
}

TEST_CASE("GGUF: names, norm epsilons, token ids and tied embeddings as the file says") {
  const auto with = [](const std::string& key, auto value) {
    GgufWriter writer = gguf_of("llama", 2);
    if (key.ends_with("epsilon"))
      std::erase_if(writer.keys, [](const std::string& entry) {
        return entry.starts_with(gguf_text("llama.attention.layer_norm_rms_epsilon"));
      });
    writer.add(key, value);
    return config_of(writer);
  };
  CHECK(with("general.name", std::string("some")).name == "some");
  CHECK(with("llama.attention.head_count_kv", 1u).kv_heads == 1);
  CHECK(with("llama.attention.layer_norm_rms_epsilon", 1e-3f).norm_eps == 1e-3f);
  CHECK(with("llama.attention.layer_norm_epsilon", 1e-2f).norm_eps == 1e-2f);
  CHECK(with("tokenizer.ggml.bos_token_id", 3u).bos_token_id == 3);
  CHECK(with("tokenizer.ggml.eos_token_id", 7u).eos_token_ids == std::vector<std::int32_t>{7});
  // 2^32 - 1 is written for "none".
  CHECK(with("tokenizer.ggml.eos_token_id", 0xffffffffu).eos_token_ids.empty());
  CHECK(with("tokenizer.ggml.bos_token_id", 0xffffffffu).bos_token_id == -1);
  CHECK(!config_of(with_tensor(gguf_of("llama", 2), "output.weight")).tied_embeddings);
  for (const auto& [name, found] : {std::pair("attn_q.bias", "q.."),
                                    {"attn_qkv.bias", "q.."},
                                    {"attn_output.bias", ".o."},
                                    {"ffn_down.bias", "..m"},
                                    {"attn_k.bias", "..."}})
    CHECK(biases(config_of(with_tensor(gguf_of("llama", 2), std::string("blk.0.") + name))) ==
          found);
}

TEST_CASE("GGUF: a list that says the same for every layer is one number") {
  const auto with = [](const std::vector<std::int32_t>& heads) {
    GgufWriter writer = gguf_of("llama", 2);
    writer.add_raw("llama.attention.head_count_kv", 9, gguf_numbers(5, heads));
    return config_of(writer).kv_heads;
  };
  CHECK(with({1, 1}) == 1);
  for (const auto& heads : {std::vector<std::int32_t>{1, 2}, {2, 1}, {}, {-1, -1}})
    CHECK(has(refusal(ErrorCode::kNotSupported, [&] { with(heads); }),
              "key 'llama.attention.head_count_kv' that differs by layer"));
}

TEST_CASE("GGUF: a missing key, a number out of range and another size of values are refused") {
  const auto without = [](const std::string& key) {
    GgufWriter writer = gguf_of("llama", 2);
    std::erase_if(writer.keys,
                  [&](const std::string& entry) { return entry.starts_with(gguf_text(key)); });
    return writer;
  };
  for (const char* key : {"llama.embedding_length", "llama.block_count", "llama.context_length",
                          "llama.attention.layer_norm_rms_epsilon"})
    CHECK(has(refusal(ErrorCode::kCorruption, [&] { config_of(without(key)); }),
              (std::string("expected key '") + key + "', found none").c_str()));
  GgufWriter values = without("llama.attention.value_length");
  values.add("llama.attention.value_length", 8u);
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { config_of(values); }),
            "attention.value_length other than key_length"));
  GgufWriter big = without("llama.context_length");
  big.add("llama.context_length", (1u << 30) + 1);
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { config_of(big); }),
            "expected 0 to 2^30, found 1073741825"));
  GgufWriter causal = gguf_of("llama", 2);
  causal.add_raw("llama.attention.causal", 7, std::string(1, '\1'));
  CHECK(config_of(causal).family == "llama");
  causal.keys.pop_back();
  causal.add_raw("llama.attention.causal", 7, std::string(1, '\0'));
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { config_of(causal); }),
            "attention.causal = false"));
}

}  // namespace test_family_configs
