// StableLM: layer norms with bias, rope over a quarter of each head; in some sizes attention and MLP
// side by side behind one norm, and a layer norm on every head's q and k.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void stablelm(ModelConfig& config, bool parallel) {
  config.norm = NormKind::kLayer;
  config.parallel_residual = config.shared_norm = parallel;
}

void read_stablelm(const JsonFields& fields, ModelConfig& config) {
  if (config.head_dim * config.heads != config.hidden)
    fields.not_supported("a head_dim other than hidden_size / num_attention_heads");
  if (!fields.has("num_key_value_heads")) config.kv_heads = 32;
  read_layer_norm_json(fields, config, "layer_norm_eps");
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.qkv_bias = fields.boolean("use_qkv_bias", false);
  if (fields.boolean("qk_layernorm", false)) config.qk_norm = QkNorm::kOwnHeads;
  read_rope_json(fields, config, 10000, 0.25);
  stablelm(config, fields.boolean("use_parallel_residual", false));
}

// As in llama.cpp, what the tensors are says more than the key use_parallel_residual.
void gguf_stablelm(const GgufFields& fields, ModelConfig& config) {
  if (fields.file().find("blk.0.attn_q_norm.weight") != nullptr) config.qk_norm = QkNorm::kOwnHeads;
  stablelm(config, fields.file().find("blk.0.ffn_norm.weight") == nullptr);
}

std::optional<WeightSlice> stablelm_json_weight(const ModelConfig& config, const Part& part) {
  if (part.role != Role::kQueryNorm && part.role != Role::kKeyNorm) return std::nullopt;
  const bool of_q = part.role == Role::kQueryNorm;
  return WeightSlice{.tensor = "model.layers." + std::to_string(part.layer) + ".self_attn." +
                               (of_q ? "q" : "k") + "_layernorm.norms.*.weight",
                     .tensors = of_q ? config.heads : config.kv_heads};
}

}  // namespace

extern const Family kStableLm;
const Family kStableLm = {"stablelm",    {"stablelm"},         read_stablelm,
                          gguf_stablelm, stablelm_json_weight, nullptr};

}  // namespace triescope::formats
