// OLMoE: Llama with experts in every layer, q and k normalised over all heads at once, and q, k and v
// cut to a limit where the file has one.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_olmoe(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1e-5));
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.qk_norm = QkNorm::kWhole;
  config.qkv_clip = static_cast<float>(fields.number("clip_qkv", 0));
  read_rope_json(fields, config);
  read_experts_json(fields, config, "num_experts", 64, 8);
  config.experts.normalise = fields.boolean("norm_topk_prob", false);
}

void gguf_olmoe(const GgufFields& fields, ModelConfig& config) {
  config.qk_norm = QkNorm::kWhole;
  config.qkv_clip = static_cast<float>(fields.number("attention.clamp_kqv", 0));
  read_experts_gguf(fields, config, false);
}

}  // namespace

extern const Family kOlmoe;
const Family kOlmoe = {
    "olmoe", {"olmoe"}, read_olmoe, gguf_olmoe, nullptr, nullptr, {"attention.clamp_kqv"}};

}  // namespace triescope::formats
