// Seed-OSS is Llama with biases on q, k and v, and a head of 128.
#include <cmath>

#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_seed_oss(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  if (!fields.raw().contains("head_dim")) {
    config.head_dim = 128;
    config.attention_scale = 1 / std::sqrt(128.0f);
  }
  if (!fields.raw().contains("num_key_value_heads")) config.kv_heads = 8;
  config.qkv_bias = fields.boolean("attention_bias", true);
  config.output_bias = fields.boolean("attention_out_bias", false);
  config.mlp_bias = fields.boolean("mlp_bias", false);
  read_rope_json(fields, config);
}

void gguf_seed_oss(const GgufFields&, ModelConfig&) {}

// llama.cpp names the MLP's norm by its name in the folder.
std::optional<WeightSlice> seed_oss_gguf_weight(const ModelConfig&, const Part& part) {
  if (part.role != Role::kMlpNorm) return std::nullopt;
  return WeightSlice{"blk." + std::to_string(part.layer) + ".post_attention_norm.weight"};
}

}  // namespace

extern const Family kSeedOss;
const Family kSeedOss = {"seed_oss",    {"seed_oss"}, read_seed_oss,
                         gguf_seed_oss, nullptr,      seed_oss_gguf_weight};

}  // namespace triescope::formats
