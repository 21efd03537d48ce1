#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/model/formats/config.h"
#include "tests/support/paths.h"
#include "tests/unit/formats/format_test_util.h"

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

const std::string kSizes =
    R"("hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":128,)"
    R"("vocab_size":100,"max_position_embeddings":256,"rms_norm_eps":1e-5)";

ModelConfig read(const std::string& type, const std::string& more = "",
                 const std::string& generation = "") {
  const TempDir folder;
  write_file(folder.path() / "config.json", R"({"model_type":")" + type + R"(",)" + kSizes +
                                                (more.empty() ? "" : ",") + more + "}");
  if (!generation.empty()) write_file(folder.path() / "generation_config.json", generation);
  return config_from_folder(folder.path().string());
}

// The message it is refused with, "" if it is accepted.
std::string refusal(ErrorCode code, const std::string& type, const std::string& more) {
  try {
    read(type, more);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "";
}

bool names(const std::string& message, const char* what) {
  return message.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a Llama configuration") {
  const ModelConfig config =
      read("llama", R"("rope_theta":500000.0,"eos_token_id":[3,4],"bos_token_id":1)");
  CHECK(config.layers.size() == 4);
  CHECK(config.head_dim == 16);
  CHECK(config.attention_scale == 0.25f);
  CHECK(config.ropes[0].theta == 500000.0);
  CHECK(config.ropes[0].dims == 16);
  CHECK(config.eos_token_ids == std::vector<std::int32_t>{3, 4});
  CHECK(config.bos_token_id == 1);
  CHECK(!config.tied_embeddings);
  CHECK(read("llama", R"("head_dim":32)").query_dims() == 128);
  CHECK(read("llama", R"("attention_bias":true,"mlp_bias":true)").output_bias);
}

TEST_CASE("generation_config.json has the last word on the end of a sequence") {
  CHECK(read("llama", R"("eos_token_id":3)", R"({"eos_token_id":[5,6]})").eos_token_ids ==
        std::vector<std::int32_t>{5, 6});
  CHECK(read("llama", R"("eos_token_id":3)", R"({"temperature":1})").eos_token_ids ==
        std::vector<std::int32_t>{3});
}

TEST_CASE("rope settings in the older and the newer spelling") {
  const char* old_form =
      R"("rope_theta":5e5,"rope_scaling":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":64})";
  const char* new_form =
      R"("rope_parameters":{"rope_theta":5e5,"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":64})";
  for (const char* form : {old_form, new_form}) {
    const ModelConfig config = read("llama", form);
    CHECK(config.ropes[0].kind == RopeKind::kLlama3);
    CHECK(config.ropes[0].theta == 5e5);
    CHECK(config.ropes[0].original_context == 64);
  }
  CHECK(read("llama", R"("rope_scaling":{"type":"linear","factor":2})").ropes[0].factor == 2);
  CHECK(names(
      refusal(ErrorCode::kNotSupported, "llama", R"("rope_scaling":{"type":"wild","factor":2})"),
      "wild"));
  CHECK(names(refusal(ErrorCode::kCorruption, "llama", R"("rope_scaling":{"type":"linear"})"),
              "factor"));
}

TEST_CASE("sliding windows by family") {
  CHECK(read("mistral", R"("sliding_window":32)").layers[3].window == 32);
  CHECK(read("mistral", R"("sliding_window":null)").layers[3].window == 0);
  CHECK(read("mistral").layers[0].window == 4096);
  const ModelConfig qwen =
      read("qwen2", R"("use_sliding_window":true,"sliding_window":16,"max_window_layers":2)");
  CHECK(qwen.layers[1].window == 0);
  CHECK(qwen.layers[2].window == 16);
  CHECK(qwen.qkv_bias);
  CHECK(!qwen.output_bias);
  CHECK(read("qwen2", R"("sliding_window":16)").layers[3].window == 0);
  const ModelConfig gemma = read("gemma2", R"("sliding_window":16)");
  CHECK(gemma.layers[0].window == 16);
  CHECK(gemma.layers[1].window == 0);
  CHECK(gemma.attention_softcap == 50);
  CHECK(gemma.tied_embeddings);
  const ModelConfig smol = read("smollm3");
  CHECK(smol.layers[2].rope == 0);
  CHECK(smol.layers[3].rope == -1);
}

TEST_CASE("what is not done is an error that names it") {
  CHECK(names(refusal(ErrorCode::kNotSupported, "mamba", ""), "mamba"));
  CHECK(names(refusal(ErrorCode::kNotSupported, "llama", R"("quantization_config":{"bits":4})"),
              "quantization_config"));
  CHECK(names(refusal(ErrorCode::kNotSupported, "llama", R"("hidden_act":"relu6")"), "relu6"));
  CHECK(names(refusal(ErrorCode::kNotSupported, "gemma2", R"("use_bidirectional_attention":true)"),
              "bidirectional"));
  CHECK(names(
      refusal(
          ErrorCode::kNotSupported, "qwen2",
          R"("layer_types":["full_attention","linear_attention","full_attention","full_attention"])"),
      "linear_attention"));
}

TEST_CASE("absurd configurations are refused") {
  for (const char* more :
       {R"("head_dim":0)", R"("head_dim":1000000)", R"("head_dim":15)", R"("head_dim":"big")",
        R"("tie_word_embeddings":1)", R"("eos_token_id":100)", R"("eos_token_id":-2)",
        R"("rope_theta":0)", R"("rope_theta":-1)", R"("rope_scaling":{"type":"linear","factor":0})",
        R"("partial_rotary_factor":0)", R"("rope_scaling":[])"}) {
    CAPTURE(more);
    CHECK(refusal(ErrorCode::kCorruption, "llama", more) != "");
  }
  const auto with = [](const std::string& key, const std::string& value) {
    const TempDir folder;
    std::string text = R"({"model_type":"llama",)" + kSizes + "}";
    const std::size_t at = text.find("\"" + key + "\":") + key.size() + 3;
    text.replace(at, text.find_first_of(",}", at) - at, value);
    write_file(folder.path() / "config.json", text);
    return config_from_folder(folder.path().string());
  };
  CHECK_NOTHROW(with("vocab_size", "7"));
  for (const char* key :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
        "intermediate_size", "vocab_size", "max_position_embeddings"}) {
    for (const char* value : {"0", "-1", "1e18", "3.5", "\"x\"", "[]", "1073741824"}) {
      CAPTURE(key);
      CAPTURE(value);
      CHECK_THROWS_AS(with(key, value), Error);
    }
  }
}

TEST_CASE("a folder without config.json says so") {
  const TempDir folder;
  try {
    config_from_folder(folder.path().string());
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kNotFound);
  }
}
