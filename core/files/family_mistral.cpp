// Mistral is Llama with a sliding window in every layer, Ministral with one in the layers that
// layer_types names. Ministral 3 scales q by its position. "mistral3" is a model that sees pictures
// too; its text part is a Mistral or a Ministral 3.
#include <cmath>

#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_mistral_shared(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  read_rope_json(fields, config);
}

void read_mistral(const JsonFields& fields, ModelConfig& config) {
  read_mistral_shared(fields, config);
  if (fields.has("layer_types"))
    fields.not_supported("layer_types in a mistral config (ministral has it)");
  const int window = window_from_json(fields, 4096);
  for (LayerConfig& layer : config.layers) layer.window = window;
}

void read_ministral(const JsonFields& fields, ModelConfig& config) {
  read_mistral_shared(fields, config);
  const int window = window_from_json(fields, 4096);
  read_windows_json(
      fields, config, window, [](int, int given) { return given > 0; }, window);
}

void read_ministral3(const JsonFields& fields, ModelConfig& config) {
  static const nlohmann::json kDefaults = {{"type", "yarn"},
                                           {"rope_theta", 1000000.0},
                                           {"factor", 16.0},
                                           {"original_max_position_embeddings", 16384},
                                           {"mscale", 1.0},
                                           {"mscale_all_dim", 1.0},
                                           {"llama_4_scaling_beta", 0.1}};
  if (!fields.has("head_dim")) {
    config.head_dim = 128;
    config.attention_scale = 1 / std::sqrt(128.0f);
  }
  if (!fields.raw().contains("num_key_value_heads")) config.kv_heads = 8;
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1e-5));
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  const JsonFields rope = fields.has("rope_parameters") ? fields.object("rope_parameters")
                          : fields.has("rope_scaling")  ? fields.object("rope_scaling")
                                                        : JsonFields(kDefaults, fields.path());
  config.ropes = {rope_from_json(rope, fields.number("rope_theta", 10000), 1, config, {})};
  config.query_scale.beta = rope.number("llama_4_scaling_beta", 0);
  config.query_scale.every = rope.integer("original_max_position_embeddings", 0);
  const int window = fields.integer("sliding_window", 0);
  for (LayerConfig& layer : config.layers) layer.window = window;
}

void gguf_ministral3(const GgufFields& fields, ModelConfig& config) {
  config.interleaved_rows = config.head_dim;
  config.query_scale.beta = fields.number("attention.temperature_scale", 0);
  config.query_scale.every = config.ropes[0].original_context;
  read_windows_gguf(fields, config, 0, 0);
}

void gguf_mistral(const GgufFields& fields, ModelConfig& config) {
  config.interleaved_rows = config.head_dim;
  read_windows_gguf(fields, config, 0, 0);
}

}  // namespace

extern const Family kMistral, kMinistral, kMinistral3, kMistral3;
const Family kMistral = {"mistral", {"mistral"}, read_mistral, gguf_mistral, nullptr, nullptr};
const Family kMinistral = {"ministral", {}, read_ministral, nullptr, nullptr, nullptr};
const Family kMinistral3 = {"ministral3",
                            {"mistral3"},
                            read_ministral3,
                            gguf_ministral3,
                            nullptr,
                            nullptr,
                            {"attention.temperature_scale"}};
const Family kMistral3 = {"mistral3", {}, nullptr,       nullptr,  nullptr,
                          nullptr,    {}, "text_config", "mistral"};

}  // namespace triescope::formats
