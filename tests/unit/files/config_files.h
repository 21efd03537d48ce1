// Configurations of small models as files hold them: config.json as text, GGUF as metadata alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/config.h"
#include "core/files/gguf.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"

namespace triescope::test {

// hidden 64, 4 heads over 2 key/value heads, intermediate 128, vocabulary 100, context 256.
inline std::string config_json(const std::string& type, const std::string& more = "",
                               int layers = 4) {
  return R"({"model_type":")" + type +
         R"(","hidden_size":64,"num_attention_heads":4,"num_key_value_heads":2,)"
         R"("intermediate_size":128,"vocab_size":100,"max_position_embeddings":256,)"
         R"("rms_norm_eps":1e-5,"num_hidden_layers":)" +
         std::to_string(layers) + (more.empty() ? "" : ",") + more + "}";
}

inline formats::ModelConfig config_of(const std::string& type, const std::string& more = "",
                                      int layers = 4) {
  return formats::config_from_json(config_json(type, more, layers), "", "config.json");
}

// A GGUF of metadata alone, hidden 64, 2 heads of 16, and a vocabulary of 8.
inline GgufWriter gguf_of(const std::string& architecture, std::uint32_t layers) {
  GgufWriter writer;
  writer.add("general.architecture", architecture);
  writer.add(architecture + ".embedding_length", std::uint32_t{64});
  writer.add(architecture + ".attention.head_count", std::uint32_t{2});
  writer.add(architecture + ".attention.key_length", std::uint32_t{16});
  writer.add(architecture + ".attention.value_length", std::uint32_t{16});
  writer.add(architecture + ".feed_forward_length", std::uint32_t{64});
  writer.add(architecture + ".context_length", std::uint32_t{128});
  writer.add(architecture + ".block_count", layers);
  writer.add(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
  writer.add_f32("token_embd.weight", {64, 8}, std::vector<float>(512));
  return writer;
}

inline formats::ModelConfig config_of(const GgufWriter& writer) {
  const TempDir folder;
  write_file(folder.path() / "model.gguf", writer.bytes());
  return formats::config_from_gguf(
      *formats::GgufFile::open((folder.path() / "model.gguf").string()));
}

// The message with which a config.json of this type, with `more` in it, is refused.
inline std::string refused(ErrorCode code, const std::string& type, const std::string& more) {
  return refusal(code, [&] { config_of(type, more); });
}

// One character a layer.
inline std::string windows(const formats::ModelConfig& config) {
  std::string text;
  for (const formats::LayerConfig& layer : config.layers) text += layer.window > 0 ? 'w' : '.';
  return text;
}
// The layer's rope, '-' where it has none.
inline std::string ropes(const formats::ModelConfig& config) {
  std::string text;
  for (const formats::LayerConfig& layer : config.layers)
    text += layer.rope < 0 ? '-' : static_cast<char>('0' + layer.rope);
  return text;
}

}  // namespace triescope::test
