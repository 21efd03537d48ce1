// Command R7B and Command A: attention and MLP side by side behind one layer norm without bias;
// layers with a window have rope, whose pairs lie side by side, the others have no positions;
// logits times a scale.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void cohere(ModelConfig& config) {
  config.norm = NormKind::kLayer;
  config.norm_bias = false;
  config.parallel_residual = config.shared_norm = true;
  config.interleaved_rows = config.ropes[0].dims;
  leave_full_layers_without_rope(config);
}

void read_cohere2(const JsonFields& fields, ModelConfig& config) {
  if (config.head_dim * config.heads != config.hidden)
    fields.not_supported("a head_dim other than hidden_size / num_attention_heads");
  read_layer_norm_json(fields, config, "layer_norm_eps");
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.tied_embeddings = fields.boolean("tie_word_embeddings", true);
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.logit_scale = static_cast<float>(fields.number("logit_scale", 0.0625));
  const int pattern = fields.integer("sliding_window_pattern", 4);
  if (pattern < 1) fields.corrupt("sliding_window_pattern", "1 or more");
  read_windows_json(
      fields, config, window_from_json(fields, 4096),
      [](int layer, int every) { return (layer + 1) % every != 0; }, pattern);
  read_rope_json(fields, config);
  cohere(config);
}

void gguf_cohere2(const GgufFields& fields, ModelConfig& config) {
  config.logit_scale = static_cast<float>(fields.number("logit_scale", 0.0625));
  read_windows_gguf(fields, config, 4096, 4);
  cohere(config);
}

}  // namespace

extern const Family kCohere2;
const Family kCohere2 = {"cohere2", {"cohere2"}, read_cohere2,   gguf_cohere2,
                         nullptr,   nullptr,     {"logit_scale"}};

}  // namespace triescope::formats
