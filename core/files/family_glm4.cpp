// GLM-4 (0414): norms before and after attention and MLP; rope over half a head, whose pairs lie
// side by side; gate and up are one tensor.
#include <cmath>

#include "core/files/family.h"

namespace triescope::formats {
namespace {

void glm4(ModelConfig& config) {
  config.post_norms = true;
  config.interleaved_rows = config.ropes[0].dims;
}

void read_glm4(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  if (!fields.has("head_dim")) {
    config.head_dim = 128;
    config.attention_scale = 1 / std::sqrt(128.0f);
  }
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1.5625e-7));
  config.qkv_bias = fields.boolean("attention_bias", true);
  read_rope_json(fields, config, 10000, 0.5);
  glm4(config);
}

void gguf_glm4(const GgufFields& fields, ModelConfig& config) {
  config.fused_qkv = fields.file().find("blk.0.attn_qkv.weight") != nullptr;
  config.fused_gate_up = true;
  glm4(config);
}

std::optional<WeightSlice> glm4_json_weight(const ModelConfig& config, const Part& part) {
  const std::string layer = "model.layers." + std::to_string(part.layer) + ".";
  if (part.role == Role::kPostAttentionNorm)
    return WeightSlice{layer + "post_self_attn_layernorm.weight"};
  if (part.role == Role::kPostMlpNorm) return WeightSlice{layer + "post_mlp_layernorm.weight"};
  return fused_gate_up(config, part);
}

}  // namespace

extern const Family kGlm4;
const Family kGlm4 = {"glm4", {"glm4"}, read_glm4, gguf_glm4, glm4_json_weight, nullptr};

}  // namespace triescope::formats
