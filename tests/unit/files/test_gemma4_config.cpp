// Gemma 4: which heads, windows, ropes and K and V a layer has, by config.json and by GGUF, and what is refused.
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/files/weight_names.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace triescope::test::test_gemma4_config {
namespace {

using namespace triescope::formats;

// "8 8 16 ...": f of every layer.
template <class F>
std::string by_layer(const ModelConfig& config, const F& f) {
  std::string text;
  for (std::size_t i = 0; i < config.layers.size(); ++i)
    text += (i == 0 ? "" : " ") + std::to_string(f(i));
  return text;
}
std::string head_dims(const ModelConfig& config) {
  return by_layer(config, [&](std::size_t i) { return config.heads_of(i).head_dim; });
}
std::string kv_layers(const ModelConfig& config) {
  return by_layer(config, [&](std::size_t i) { return config.kv_layer(i); });
}

}  // namespace

TEST_CASE(
    "Gemma 4: heads of 256 and 512, one layer in six without a window, an embedding of every layer") {
  const ModelConfig config = config_of("gemma4_text", "", 7);
  CHECK(windows(config) == "wwwww..");
  CHECK(config.layers[0].window == 512);
  CHECK(ropes(config) == "1111100");
  CHECK(head_dims(config) == "256 256 256 256 256 512 512");
  CHECK(kv_layers(config) == "0 1 2 3 4 5 6");
  CHECK(!config.has_even_kv());
  CHECK(config.kv_values() == 2 * 2 * (5 * 256 + 2 * 512));
  CHECK(config.attention_scale == 1);
  CHECK(config.embedding_scale == 8);
  CHECK(config.value_norm);
  CHECK(config.layer_scale);
  CHECK(!config.norm_plus_one);
  CHECK(config.tied_embeddings);
  CHECK(config.per_layer.dims == 256);
  CHECK(config.per_layer.vocab == 262144);
  CHECK(config.logit_softcap == 0);
  CHECK(config.ropes[0].dims == 512);
  CHECK(config.ropes[0].rotated_pairs == 64);
  CHECK(config.ropes[0].theta == 1e6);
  CHECK(config.ropes[1].dims == 256);
  CHECK(config.ropes[1].rotated_pairs == 0);
  CHECK(config.ropes[1].theta == 1e4);
  CHECK(config_of("gemma4_text", R"("hidden_size_per_layer_input":null)").per_layer.dims == 0);
  CHECK(config_of("gemma4_text", R"("use_bidirectional_attention":"vision")").layers.size() == 4);
}

TEST_CASE("Gemma 4: the last layers read K and V of the last layer of their kind before them") {
  const std::string shared = R"("num_kv_shared_layers":5,"use_double_wide_mlp":true)";
  const ModelConfig config = config_of("gemma4_text", shared, 12);
  CHECK(kv_layers(config) == "0 1 2 3 4 5 6 6 6 6 6 5");
  CHECK(config.heads_of(6).owns_kv);
  CHECK(!config.heads_of(7).owns_kv);
  CHECK(config.heads_of(7).qkv_dims() == 4 * 256);
  CHECK(config.kv_values() == 2 * 2 * (6 * 256 + 512));
  CHECK(by_layer(config, [&](int i) { return config.intermediate_of(i, -1); }) ==
        "128 128 128 128 128 128 128 256 256 256 256 256");
  CHECK(config.widest_intermediate() == 256);
  CHECK(!expected_shape(config, {Role::kKey, 7}));
  CHECK(!expected_shape(config, {Role::kKeyNorm, 11}));
  CHECK(expected_shape(config, {Role::kQuery, 11}) == WeightShape{4 * 512, 64});
  CHECK(expected_shape(config, {Role::kKey, 5}) == WeightShape{2 * 512, 64});
  for (const int count : {7, 12, 13})
    CHECK(has(refusal(ErrorCode::kCorruption,
                      [&] {
                        config_of("gemma4_text",
                                  R"("num_kv_shared_layers":)" + std::to_string(count), 12);
                      }),
              "num_kv_shared_layers: expected an earlier layer of each kind"));
}

TEST_CASE("Gemma 4: values that are keys, in full layers with heads of their own") {
  const std::string types =
      R"("layer_types":["full_attention","sliding_attention","sliding_attention","full_attention"])";
  const ModelConfig config = config_of(
      "gemma4_text",
      types +
          R"(,"attention_k_eq_v":true,"num_global_key_value_heads":1,"global_head_dim":32,"head_dim":16)");
  CHECK(head_dims(config) == "32 16 16 32");
  CHECK(by_layer(config, [&](std::size_t i) { return config.heads_of(i).kv_heads; }) == "1 2 2 1");
  CHECK(expected_shape(config, {Role::kValue, 1}) == WeightShape{32, 64});
  CHECK(!expected_shape(config, {Role::kValue, 0}));
  CHECK(!config.has_even_kv());  // one head of 32, or two of 16
  // Without it, the number of full layers' heads is that of the others.
  CHECK(
      config_of("gemma4_text", types + R"(,"num_global_key_value_heads":1)").heads_of(0).kv_heads ==
      2);
}

TEST_CASE("Gemma 4: what newer files say of single layers") {
  const std::string types =
      R"("layer_types":["sliding_attention","full_attention","sliding_attention","full_attention"],"head_dim":16)";
  const auto with = [&](const std::string& layers) {
    return types + R"(,"per_layer_config":{)" + layers + "}";
  };
  const ModelConfig config = config_of(
      "gemma4_text", with(R"("1":{"head_dim":32},"3":{"head_dim":32,"num_key_value_heads":1})"));
  CHECK(head_dims(config) == "16 32 16 32");
  CHECK(config.heads_of(3).kv_heads == 1);
  CHECK(config.ropes[0].dims == 32);
  CHECK(has(refused(ErrorCode::kNotSupported, "gemma4_text", with(R"("1":{"hidden_size":32})")),
            "per_layer_config with 'hidden_size'"));
  const ModelConfig wide =
      config_of("gemma4_text", with(R"("0":{"head_dim":32},"2":{"head_dim":32})"));
  CHECK(head_dims(wide) == "32 16 32 16");
  CHECK(wide.ropes[0].dims == 16);
  CHECK(wide.ropes[1].dims == 32);
  for (const char* layers : {R"("1":{"head_dim":32})", R"("0":{"head_dim":32})"})
    CHECK(has(refused(ErrorCode::kNotSupported, "gemma4_text", with(layers)),
              "per_layer_config with several head_dim in layers of one kind"));
  for (const char* number : {"4", "x", "", "99999999999"})
    CHECK(has(
        refused(ErrorCode::kCorruption, "gemma4_text", with('"' + std::string(number) + R"(":{})")),
        "per_layer_config: expected the numbers of layers"));
}

TEST_CASE("Gemma 4: a window in the last layer is left out, with a note; other masks are refused") {
  const ModelConfig config =
      config_of("gemma4_text", R"("layer_types":["full_attention","sliding_attention"])", 2);
  CHECK(windows(config) == "..");
  REQUIRE(config.notes.size() == 1);
  CHECK(has(config.notes[0], "the last layer has a sliding window and is taken as one without"));
  CHECK(has(
      refused(ErrorCode::kNotSupported, "gemma4_text", R"("use_bidirectional_attention":"all")"),
      "use_bidirectional_attention 'all'"));
  CHECK(has(refused(ErrorCode::kCorruption, "gemma4_text", R"("vocab_size_per_layer_input":99)"),
            "expected an embedding of every layer for each of the 100 tokens, found 99"));
}

TEST_CASE("GGUF: Gemma 4's layers by their keys and tensors") {
  const auto file = [](const std::vector<float>& factors) {
    GgufWriter writer = gguf_of("gemma4", 4);
    std::erase_if(writer.keys, [](const std::string& entry) {
      return entry.find("feed_forward_length") != std::string::npos;
    });
    const auto number = [&](const std::string& key, std::uint32_t value) {
      writer.add("gemma4." + key, value);
    };
    const auto list = [&](const std::string& key, const std::vector<std::int32_t>& values) {
      writer.add_raw("gemma4." + key, 9, gguf_numbers(5, values));
    };
    number("attention.sliding_window", 32);
    list("attention.sliding_window_pattern", {1, 0, 1, 0});
    list("attention.head_count_kv", {2, 1, 2, 1});
    list("feed_forward_length", {64, 64, 128, 128});
    number("attention.key_length_swa", 8);
    number("attention.shared_kv_layers", 1);
    writer.add_f32("rope_freqs.weight", {8}, factors);
    writer.add_f32("blk.1.attn_v.weight", {1}, {0});
    return writer;
  };
  const ModelConfig config = config_of(file({1, 1, 1e30f, 1e30f, 1e30f, 1e30f, 1e30f, 1e30f}));
  CHECK(config.family == "gemma4_text");
  CHECK(windows(config) == "w.w.");
  CHECK(head_dims(config) == "8 16 8 16");
  CHECK(kv_layers(config) == "0 1 2 1");
  CHECK(by_layer(config, [&](std::size_t i) { return config.heads_of(i).kv_heads; }) == "2 1 2 1");
  CHECK(by_layer(config, [&](int i) { return config.intermediate_of(i, -1); }) == "64 64 128 128");
  CHECK(!config.layers[1].value_is_key);
  CHECK(!config.layer_scale);
  CHECK(config.per_layer.dims == 0);
  CHECK(config.ropes[0].rotated_pairs == 2);
  CHECK(config.ropes[0].divisors.empty());
  CHECK(config.ropes[1].dims == 8);
  CHECK(config.ropes[1].theta == 1e4);
  for (const std::vector<float>& factors :
       {std::vector<float>{1, 2, 1, 1, 1, 1, 1, 1}, std::vector<float>{1, 1e30f, 1, 1, 1, 1, 1, 1},
        std::vector<float>(8, 1e30f)})
    CHECK(has(refusal(ErrorCode::kNotSupported, [&] { config_of(file(factors)); }),
              "rope_freqs.weight other than 1 and then 1e30"));
}

}  // namespace triescope::test::test_gemma4_config
