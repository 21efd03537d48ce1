// What a model of a family that is not read is refused with.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/files/config.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace test_unread_family {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

TEST_CASE("unread family: a config.json is told by what it is, with the families that are read") {
  const auto told = [](const char* family, const std::string& more, const char* reason) {
    CAPTURE(family);
    const std::string text = refusal(ErrorCode::kNotSupported, [&] {
      config_from_json(config_json(family, more), "", "config.json");
    });
    CAPTURE(text);
    CHECK(has(text, std::string("model family '") + family + "' is not supported"));
    CHECK(has(text, reason));
    CHECK(has(text, "; expected one of llama, mistral"));
  };
  told("mamba", R"("state_size":16)", "a recurrent or convolution state");
  for (const char* family : {"qwen3_next", "qwen3_5_text", "mamba2", "falcon_h1"})
    told(family, R"("layer_types":["linear_attention"])", "a recurrent or convolution state");
  told("deepseek_v3", R"("kv_lora_rank":512,"n_routed_experts":256)",
       "multi-head latent attention");
  told("glm4_moe", R"("n_routed_experts":128)", "router of experts");
  told("t5", R"("is_encoder_decoder":true)", "encoder-decoder");
  told("bert", R"("architectures":["BertForMaskedLM"])", "does not write one");
  told("llava", R"("text_config":{"model_type":"llama"})", "convert its text part ('llama'");
  told("qwen2_vl", R"("text_config":{"model_type":"qwen2_vl_text"})",
       "('qwen2_vl_text') is not read either; expected one of");
  told("qwen3_5", R"("text_config":{"model_type":"qwen3_5_text","linear_num_value_heads":32})",
       "('qwen3_5_text') is not read either: it has layers with a recurrent");
  told("odd", R"("text_config":{"model_type":3},"layer_types":3,"architectures":[1])",
       "its text part is not read either");
  told("falcon", "", "'falcon' is not supported; expected one of");
}

TEST_CASE("unread family: a GGUF is told by what it is, with the architectures that are read") {
  const auto told = [](const char* architecture, const std::string& key, std::uint32_t type,
                       const std::string& value, const char* reason) {
    CAPTURE(architecture);
    GgufWriter writer = gguf_of(architecture, 2);
    writer.add_raw(architecture + key, type, value);
    const std::string text = refusal(ErrorCode::kNotSupported, [&] { config_of(writer); });
    CAPTURE(text);
    CHECK(has(text, reason));
    CHECK(has(text, "; expected one of llama, mistral"));
  };
  const std::string some = bytes_of<std::uint32_t>(16);
  for (const char* architecture : {"mamba", "mamba2", "qwen35"})
    told(architecture, ".ssm.state_size", 4, some, "a recurrent or convolution state");
  told("deepseek2", ".attention.kv_lora_rank", 4, some, "multi-head latent attention");
  told("glm4moe", ".expert_count", 4, some, "router of experts");
  told("bert", ".attention.causal", 7, std::string(1, '\0'), "does not write one");
  told("clip", ".vision.block_count", 4, some, "open the file of its text part");
  told("t5", ".decoder_block_count", 4, some, "encoder-decoder");
  told("falcon", ".odd", 4, some, "'falcon' is not supported; expected one of");
}

}  // namespace test_unread_family
