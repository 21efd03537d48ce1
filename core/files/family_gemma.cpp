// Gemma 2 and 3 (text): norms before and after attention and MLP with weights stored as w - 1;
// embeddings scaled by sqrt(hidden); soft caps (2); q/k norms and a second rope for local layers
// (3); alternating local and global layers.
#include <cmath>

#include "core/files/family.h"

namespace triescope::formats {
namespace {

void gemma(ModelConfig& config, double query_scalar) {
  config.post_norms = true;
  config.attention_scale = static_cast<float>(1.0 / std::sqrt(query_scalar));
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden));
}

void read_shared(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_activation", "gelu_pytorch_tanh");
  config.tied_embeddings = fields.boolean("tie_word_embeddings", true);
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.head_dim = fields.integer("head_dim", 256);
  config.norm_plus_one = true;
  if (fields.boolean("use_bidirectional_attention", false))
    fields.not_supported("use_bidirectional_attention");
  gemma(config, fields.number("query_pre_attn_scalar", 256));
}

float softcap(const JsonFields& fields, const char* key, double absent) {
  return static_cast<float>(fields.number(key, fields.raw().contains(key) ? 0 : absent));
}

void read_gemma2(const JsonFields& fields, ModelConfig& config) {
  read_shared(fields, config);
  config.attention_softcap = softcap(fields, "attn_logit_softcapping", 50);
  config.logit_softcap = softcap(fields, "final_logit_softcapping", 30);
  read_rope_json(fields, config);
  read_windows_json(
      fields, config, fields.integer("sliding_window", 4096),
      [](int layer, int) { return layer % 2 == 0; }, 0);
}

void read_gemma3(const JsonFields& fields, ModelConfig& config) {
  read_shared(fields, config);
  config.qk_norm = QkNorm::kHeads;
  config.attention_softcap = softcap(fields, "attn_logit_softcapping", 0);
  config.logit_softcap = softcap(fields, "final_logit_softcapping", 0);
  const int pattern = fields.integer("sliding_window_pattern", 6);
  if (pattern < 1) fields.corrupt("sliding_window_pattern", "1 or more");
  read_windows_json(
      fields, config, fields.integer("sliding_window", 4096),
      [](int layer, int every) { return (layer + 1) % every != 0; }, pattern);
  read_ropes_by_window_json(fields, config, fields.number("rope_theta", 1e6),
                            fields.number("rope_local_base_freq", 1e4));
}

std::optional<WeightSlice> gemma_json_weight(const ModelConfig&, const Part& part) {
  if (part.role != Role::kMlpNorm) return std::nullopt;
  return WeightSlice{"model.layers." + std::to_string(part.layer) +
                     ".pre_feedforward_layernorm.weight"};
}

// In GGUF, norm weights already include the 1.
void gguf_gemma2(const GgufFields& fields, ModelConfig& config) {
  config.activation = Activation::kGeluTanh;
  // The file lacks query_pre_attn_scalar. It is head_dim in all sizes but 27B, where it is hidden /
  // heads.
  gemma(config, config.layers.size() == 46 ? static_cast<double>(config.hidden) / config.heads
                                           : config.head_dim);
  config.attention_softcap = static_cast<float>(fields.number("attn_logit_softcapping", 50));
  config.logit_softcap = static_cast<float>(fields.number("final_logit_softcapping", 30));
  read_windows_gguf(fields, config, 4096, 2);
}

void gguf_gemma3(const GgufFields& fields, ModelConfig& config) {
  config.activation = Activation::kGeluTanh;
  config.qk_norm = QkNorm::kHeads;
  gemma(config, config.layers.size() == 62 ? static_cast<double>(config.hidden) / config.heads
                                           : config.head_dim);
  config.logit_softcap = static_cast<float>(fields.number("final_logit_softcapping", 0));
  read_windows_gguf(fields, config, 0, 6);
  if (!fields.has("rope.freq_base")) config.ropes[0].theta = 1e6;
  RopeConfig local;
  local.theta = fields.number("rope.freq_base_swa", 1e4);
  local.dims = config.head_dim;
  config.ropes.push_back(local);
  for (LayerConfig& layer : config.layers) layer.rope = layer.window > 0 ? 1 : 0;
}

}  // namespace

extern const Family kGemma2, kGemma3;
const Family kGemma2 = {.model_type = "gemma2",
                        .gguf_names = {"gemma2"},
                        .read_json = read_gemma2,
                        .read_gguf = gguf_gemma2,
                        .json_weight = gemma_json_weight,
                        .gguf_weight = nullptr,
                        .overflows_f16 = true};
const Family kGemma3 = {.model_type = "gemma3_text",
                        .gguf_names = {"gemma3"},
                        .read_json = read_gemma3,
                        .read_gguf = gguf_gemma3,
                        .json_weight = gemma_json_weight,
                        .gguf_weight = nullptr,
                        .overflows_f16 = true};

}  // namespace triescope::formats
