// Granite is Llama with four multipliers: of the embeddings, of q.k, of what is added to the
// stream, and of the logits (which are divided). GGUF's converter permutes q and k as Llama's.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

float scale_of(const JsonFields& fields, const char* key) {
  return static_cast<float>(fields.number(key, 1));
}

void read_granite(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.mlp_bias = fields.boolean("mlp_bias", false);
  read_rope_json(fields, config);
  config.embedding_scale = scale_of(fields, "embedding_multiplier");
  config.attention_scale = scale_of(fields, "attention_multiplier");
  config.residual_scale = scale_of(fields, "residual_multiplier");
  config.logit_scale = 1 / scale_of(fields, "logits_scaling");
}

void gguf_granite(const GgufFields& fields, ModelConfig& config) {
  config.interleaved_rows = config.head_dim;
  // llama.cpp takes 0 for "not said".
  const auto read = [&](const char* key, float& scale) {
    if (const double found = fields.number(key, 0); found != 0) scale = static_cast<float>(found);
  };
  read("embedding_scale", config.embedding_scale);
  read("attention.scale", config.attention_scale);
  read("residual_scale", config.residual_scale);
  float divisor = 1;
  read("logit_scale", divisor);
  config.logit_scale = 1 / divisor;
  // Granite 4 says with this key that its layers have no rotary positions.
  if (!fields.boolean("rope.scaling.finetuned", true))
    for (LayerConfig& layer : config.layers) layer.rope = -1;
}

}  // namespace

extern const Family kGranite;
const Family kGranite = {"granite",
                         {"granite"},
                         read_granite,
                         gguf_granite,
                         nullptr,
                         nullptr,
                         {"embedding_scale", "attention.scale", "residual_scale", "logit_scale"}};

}  // namespace triescope::formats
