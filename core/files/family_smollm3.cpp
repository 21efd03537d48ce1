// SmolLM3 is Llama with layers at a fixed interval that have no rotary positions (NoPE).
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_smollm3(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.tied_embeddings = fields.boolean("tie_word_embeddings", true);
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.mlp_bias = fields.boolean("mlp_bias", false);
  read_rope_json(fields, config, 2000000);
  if (fields.has("no_rope_layers")) {
    const std::vector<double> has_rope =
        fields.numbers("no_rope_layers");  // 1 = with rope, in spite of the name
    if (has_rope.size() != config.layers.size())
      fields.corrupt("no_rope_layers", "one entry a layer");
    for (std::size_t i = 0; i < has_rope.size(); ++i)
      config.layers[i].rope = has_rope[i] != 0 ? 0 : -1;
  } else {
    const int interval = fields.integer("no_rope_layer_interval", 4);
    if (interval < 1) fields.corrupt("no_rope_layer_interval", "1 or more");
    for (std::size_t i = 0; i < config.layers.size(); ++i) {
      config.layers[i].rope = (i + 1) % static_cast<std::size_t>(interval) != 0 ? 0 : -1;
    }
  }
  const int window =
      fields.boolean("use_sliding_window", false) ? fields.integer("sliding_window", 0) : 0;
  if (fields.has("layer_types")) {
    read_windows_json(
        fields, config, window, [](int, int) { return false; }, 0);
  } else if (window > 0) {
    for (LayerConfig& layer : config.layers) layer.window = layer.rope < 0 ? window : 0;
  }
}

// llama.cpp has only this interval, and no windows.
void gguf_smollm3(const GgufFields&, ModelConfig& config) {
  config.interleaved_rows = config.head_dim;
  for (std::size_t i = 3; i < config.layers.size(); i += 4) config.layers[i].rope = -1;
}

}  // namespace

extern const Family kSmolLm3;
const Family kSmolLm3 = {"smollm3", {"smollm3"}, read_smollm3, gguf_smollm3, nullptr, nullptr};

}  // namespace triescope::formats
