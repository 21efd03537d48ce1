#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

#include "core/base/error.h"
#include "core/files/config.h"
#include "tests/unit/files/config_files.h"

namespace test_config {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

ModelConfig read(const std::string& type, const std::string& more = "",
                 const std::string& generation = "") {
  const TempDir folder;
  write_file(folder.path() / "config.json", config_json(type, more));
  if (!generation.empty()) write_file(folder.path() / "generation_config.json", generation);
  return config_from_folder(folder.path().string());
}

// The message it is refused with, "" if it is accepted.
std::string refusal(ErrorCode code, const std::string& type, const std::string& more,
                    const std::string& generation = "") {
  try {
    read(type, more, generation);
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

TEST_CASE("config: a Llama configuration") {
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

TEST_CASE("config: generation_config.json has the last word on the end of a sequence") {
  CHECK(read("llama", R"("eos_token_id":3)", R"({"eos_token_id":[5,6]})").eos_token_ids ==
        std::vector<std::int32_t>{5, 6});
  CHECK(read("llama", R"("eos_token_id":3)", R"({"temperature":1})").eos_token_ids ==
        std::vector<std::int32_t>{3});
}

TEST_CASE("config: an end token outside the vocabulary cannot come: it is left out, with a note") {
  using Ids = std::vector<std::int32_t>;
  const ModelConfig config = read("llama", R"("eos_token_id":[3,100],"bos_token_id":100)");
  CHECK(config.eos_token_ids == Ids{3});
  CHECK(config.bos_token_id == -1);
  REQUIRE(config.notes.size() == 2);
  CHECK(config.notes[0] ==
        "config.json: eos_token_id 100 is outside the vocabulary of 100 tokens: it cannot come, "
        "and is left out");
  CHECK(config.notes[1].starts_with("config.json: bos_token_id 100 is outside"));
  const ModelConfig generated = read("llama", R"("eos_token_id":3)", R"({"eos_token_id":[5,200]})");
  CHECK(generated.eos_token_ids == Ids{5});
  REQUIRE(generated.notes.size() == 1);
  CHECK(generated.notes[0].starts_with("generation_config.json: eos_token_id 200 is outside"));
  for (const char* none : {"-1", "4294967295", "[-1]", "[]", "null"}) {
    const ModelConfig without =
        read("llama", R"("bos_token_id":4294967295,"eos_token_id":)" + std::string(none));
    CHECK(without.eos_token_ids.empty());
    CHECK(without.bos_token_id == -1);
    CHECK(without.notes.empty());
  }
}

TEST_CASE(
    "config: Infinity and NaN are read where nothing needs them, and refused where a number is needed") {
  CHECK(read("llama", R"("time_step_limit":[0.0,Infinity],"x":NaN)", R"({"y":-Infinity})")
            .layers.size() == 4);
  for (const char* more : {R"("rope_theta":Infinity)", R"("head_dim":NaN)",
                           R"("rope_scaling":{"rope_type":"linear","factor":NaN})"}) {
    CAPTURE(more);
    CHECK(names(refusal(ErrorCode::kCorruption, "llama", more), "expected a"));
  }
  const GenerationSettings asked =
      read("llama", "", R"({"temperature":Infinity,"top_p":0.5})").generation;
  CHECK(asked.settings.size() == 1);
  CHECK(asked.not_done == std::vector<std::string>{"temperature"});
}

TEST_CASE("config: a rope factor without a type scales nothing, and a note says so") {
  for (const char* more : {R"("rope_scaling":{"type":null,"factor":2.0})",
                           R"("rope_scaling":{"rope_type":null,"factor":2.0})",
                           R"("rope_parameters":{"rope_theta":10000.0,"factor":2.0})"}) {
    CAPTURE(more);
    const ModelConfig config = read("llama", more);
    CHECK(config.ropes[0].kind == RopeKind::kDefault);
    REQUIRE(config.notes.size() == 1);
    CHECK(names(config.notes[0], "have a factor of 2.0 and no rope_type"));
  }
  CHECK(read("llama", R"("rope_scaling":{"type":"linear","factor":2.0})").notes.empty());
}

TEST_CASE("generation_config.json: what it asks for, by our parameters' names") {
  const auto asked = [](const std::string& generation) {
    return read("llama", R"("eos_token_id":3)", generation).generation;
  };
  using Settings = decltype(GenerationSettings::settings);
  CHECK(asked(R"({"bos_token_id":1,"do_sample":true,"temperature":0.6,"top_p":0.9,"top_k":20,
                  "repetition_penalty":1.05,"early_stopping":"never","bad_words_ids":[[1,2],[3]],
                  "max_length":4096,"transformers_version":"4.40"})")
            .settings == Settings{{"temperature", "0.6"},
                                  {"top_k", "20"},
                                  {"top_p", "0.9"},
                                  {"repetition_penalty", "1.05"},
                                  {"early_stopping", "never"},
                                  {"bad_words_ids", "1 2; 3"}});
  // A value that changes nothing is not a setting.
  const auto nothing = asked(R"({"temperature":1.0,"top_p":1,"top_k":null,"num_beams":1,
                                 "early_stopping":false,"bad_words_ids":[],"guidance_scale":1.0,
                                 "suppress_tokens":[],"forced_bos_token_id":null})");
  CHECK(nothing.settings.empty());
  CHECK(nothing.not_done.empty());
  CHECK(asked(R"({"top_k":0})").settings == Settings{{"top_k", "0"}});  // ours is 50 otherwise
  CHECK(asked(R"({"guidance_scale":1.5,"suppress_tokens":[7],"forced_bos_token_id":0})").not_done ==
        std::vector<std::string>{"guidance_scale", "suppress_tokens", "forced_bos_token_id"});
  for (const auto& [key, text] : {std::pair("temperature", R"({"temperature":"hot"})"),
                                  std::pair("early_stopping", R"({"early_stopping":"soon"})"),
                                  std::pair("bad_words_ids", R"({"bad_words_ids":[1,2]})"),
                                  std::pair("bad_words_ids", R"({"bad_words_ids":[["a"]]})")})
    CHECK(names(refusal(ErrorCode::kCorruption, "llama", "", text), key));
}

TEST_CASE("generation_config.json: every setting is silent at its neutral value alone") {
  using Settings = decltype(GenerationSettings::settings);
  const auto asked = [](const std::string& name, const std::string& value) {
    return read("llama", "", "{\"" + name + "\":" + value + "}").generation;
  };
  for (const auto& [name, neutral, other] : {std::tuple{"temperature", "1", "0"},
                                             {"top_k", "-1", "1"},
                                             {"top_p", "1", "0"},
                                             {"min_p", "0", "1"},
                                             {"top_h", "0", "1"},
                                             {"typical_p", "1", "0"},
                                             {"epsilon_cutoff", "0", "1"},
                                             {"eta_cutoff", "0", "1"},
                                             {"repetition_penalty", "1", "0"},
                                             {"num_beams", "1", "0"},
                                             {"length_penalty", "1", "0"},
                                             {"no_repeat_ngram_size", "0", "1"},
                                             {"min_length", "0", "1"},
                                             {"min_new_tokens", "0", "1"}}) {
    CAPTURE(std::string(name));
    CHECK(asked(name, neutral).settings.empty());
    CHECK(asked(name, other).settings == Settings{{name, other}});
  }
  CHECK(asked("early_stopping", "true").settings == Settings{{"early_stopping", "true"}});
  for (const auto& [name, neutral, other] :
       {std::tuple{"encoder_repetition_penalty", "1", "0"},
        {"encoder_no_repeat_ngram_size", "0", "1"},
        {"diversity_penalty", "0", "1"},
        {"num_beam_groups", "1", "2"},
        {"penalty_alpha", "0", "1"},
        {"guidance_scale", "1", "0"},
        {"sequence_bias", "[]", "[[[1],2.0]]"},
        {"suppress_tokens", "null", "[1]"},
        {"begin_suppress_tokens", "[]", "[1]"},
        {"forced_bos_token_id", "-1", "0"},
        {"forced_eos_token_id", "-1", "[0]"},
        {"exponential_decay_length_penalty", "null", "[1,2.0]"},
        {"constraints", "null", "[1]"},
        {"force_words_ids", "[]", "[[1]]"},
        {"dola_layers", "\"\"", "\"high\""},
        {"stop_strings", "[]", "[\"a\"]"},
        {"remove_invalid_values", "false", "true"},
        {"renormalize_logits", "false", "true"},
        {"watermarking_config", "{}", "{\"bias\":1}"},
        {"token_healing", "false", "true"}}) {
    CAPTURE(std::string(name));
    CHECK(asked(name, neutral).not_done.empty());
    CHECK(asked(name, other).not_done == std::vector<std::string>{name});
    CHECK(asked(name, other).settings.empty());
  }
  CHECK(names(refusal(ErrorCode::kCorruption, "llama", "", R"({"bad_words_ids":[[1],[]]})"),
              "a list of lists of token ids"));
}

TEST_CASE("config: rope settings in the older and the newer spelling") {
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

TEST_CASE("config: sliding windows by family") {
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

TEST_CASE("config: what is not supported is an error that names it") {
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

namespace {

std::string refusal_of(const GgufWriter& writer) {
  try {
    config_of(writer);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kNotSupported);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("GGUF: Gemma's attention scale is that of the size the layers tell") {
  // query_pre_attn_scalar is not in the file: hidden / heads in 27B, else head_dim.
  for (const auto& [architecture, layers, scalar] : {std::tuple{"gemma2", 26, 16.0f},
                                                     {"gemma2", 42, 16.0f},
                                                     {"gemma2", 46, 32.0f},
                                                     {"gemma3", 26, 16.0f},
                                                     {"gemma3", 48, 16.0f},
                                                     {"gemma3", 62, 32.0f}}) {
    CAPTURE(architecture);
    CAPTURE(layers);
    const ModelConfig config = config_of(gguf_of(architecture, static_cast<std::uint32_t>(layers)));
    CHECK(config.attention_scale == doctest::Approx(1.0f / std::sqrt(scalar)));
    CHECK(config.embedding_scale == 8);
  }
}

TEST_CASE("GGUF: windows by architecture, and by a pattern") {
  GgufWriter gemma2 = gguf_of("gemma2", 4);
  CHECK(windows(config_of(gemma2)) == "w.w.");
  CHECK(config_of(gemma2).layers[0].window == 4096);
  gemma2.add("gemma2.attention.sliding_window", std::uint32_t{16});
  CHECK(config_of(gemma2).layers[0].window == 16);
  GgufWriter gemma3 = gguf_of("gemma3", 7);
  CHECK(windows(config_of(gemma3)) == ".......");
  gemma3.add("gemma3.attention.sliding_window", std::uint32_t{16});
  CHECK(windows(config_of(gemma3)) == "wwwww.w");
  CHECK(config_of(gemma3).layers[4].rope == 1);
  CHECK(config_of(gemma3).layers[5].rope == 0);
  gemma3.add("gemma3.attention.sliding_window_pattern", std::uint32_t{3});
  CHECK(windows(config_of(gemma3)) == "ww.ww.w");
  GgufWriter list = gguf_of("llama", 3);
  list.add("llama.attention.sliding_window", std::uint32_t{16});
  CHECK(windows(config_of(list)) == "www");
  list.add_raw("llama.attention.sliding_window_pattern", 9,
               bytes_of<std::uint32_t>(7) + bytes_of<std::uint64_t>(3) + std::string("\1\0\1", 3));
  CHECK(windows(config_of(list)) == "w.w");
  list.keys.pop_back();
  list.add_raw("llama.attention.sliding_window_pattern", 9,
               bytes_of<std::uint32_t>(7) + bytes_of<std::uint64_t>(2) + std::string("\1\0", 2));
  CHECK_THROWS_AS(config_of(list), Error);
}

TEST_CASE("GGUF: what is not supported is an error that names it") {
  const auto with = [](const char* key, auto value) {
    GgufWriter writer = gguf_of("llama", 2);
    writer.add(std::string("llama.") + key, value);
    return refusal_of(writer);
  };
  CHECK(refusal_of(gguf_of("llama", 2)) == "");
  CHECK(with("logit_scale", 0.5f).find("logit_scale") != std::string::npos);
  CHECK(with("attention.scale", 0.5f).find("attention.scale") != std::string::npos);
  CHECK(with("expert_count", std::uint32_t{8}).find("expert_count") != std::string::npos);
  CHECK(with("rope.scaling.type", std::string("spiral")).find("spiral") != std::string::npos);
  CHECK(with("rope.scaling.type", std::string("longrope")).find("rope_factors_long") !=
        std::string::npos);
  GgufWriter yarn = gguf_of("llama", 2);
  yarn.add("llama.rope.scaling.type", std::string("yarn"));
  yarn.add("llama.rope.scaling.factor", 4.0f);
  CHECK(config_of(yarn).ropes[0].attention_factor == doctest::Approx(0.1 * std::log(4) + 1));
  yarn.add("llama.rope.scaling.yarn_log_multiplier", 1.0f);
  CHECK(config_of(yarn).ropes[0].attention_factor == 1);
  CHECK(refusal_of(gguf_of("deepseek2", 2)).find("deepseek2") != std::string::npos);
}

TEST_CASE("config: absurd configurations are refused") {
  for (const char* more :
       {R"("head_dim":0)", R"("head_dim":1000000)", R"("head_dim":15)", R"("head_dim":"big")",
        R"("tie_word_embeddings":1)", R"("eos_token_id":-2)", R"("rope_theta":0)",
        R"("rope_theta":-1)", R"("rope_scaling":{"type":"linear","factor":0})",
        R"("partial_rotary_factor":0)", R"("rope_scaling":[])"}) {
    CAPTURE(more);
    CHECK(refusal(ErrorCode::kCorruption, "llama", more) != "");
  }
  const auto with = [](const std::string& key, const std::string& value) {
    const TempDir folder;
    std::string text = config_json("llama");
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

TEST_CASE("config: a folder without config.json says so") {
  const TempDir folder;
  try {
    config_from_folder(folder.path().string());
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kNotFound);
  }
}

}  // namespace test_config
