// Granite is Llama with four multipliers: of the embeddings, of q.k, of what is added to the
// stream, and of the logits (which are divided). Granite-MoE has experts in every layer, and perhaps
// an MLP that all rows share. GGUF's converter permutes q and k as Llama's.
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

void read_granite_moe(const JsonFields& fields, ModelConfig& config) {
  read_granite(fields, config);
  config.mlp_bias = false;
  read_experts_json(fields, config, "num_local_experts", 8, 2);
  config.experts.normalise = true;
  config.experts.shared_intermediate = fields.integer("shared_intermediate_size", 0);
}

// Gate and up are halves of one tensor, whose first dimension counts the experts.
std::optional<WeightSlice> granite_moe_weight(const ModelConfig& config, const Part& part) {
  const std::string layer = "model.layers." + std::to_string(part.layer) + ".";
  if (part.role == Role::kRouter)
    return WeightSlice{layer + "block_sparse_moe.router.layer.weight"};
  if (part.role != Role::kGate && part.role != Role::kUp && part.role != Role::kDown)
    return std::nullopt;
  const bool shared = is_shared(config, part);
  const std::string mlp = layer + (shared ? "shared_mlp." : "block_sparse_moe.");
  if (!shared)
    return stacked_expert(config, part, mlp + "input_linear.weight", mlp + "output_linear.weight");
  if (part.role == Role::kDown) return WeightSlice{mlp + "output_linear.weight"};
  return WeightSlice{mlp + "input_linear.weight",
                     part.role == Role::kUp ? expected_shape(config, part)->rows : 0};
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

void gguf_granite_moe(const GgufFields& fields, ModelConfig& config) {
  gguf_granite(fields, config);
  read_experts_gguf(fields, config, true);
}

constexpr std::string_view kScales[] = {"embedding_scale", "attention.scale", "residual_scale",
                                        "logit_scale"};

}  // namespace

extern const Family kGranite, kGraniteMoe, kGraniteMoeShared;
const Family kGranite = {"granite",
                         {"granite"},
                         read_granite,
                         gguf_granite,
                         nullptr,
                         nullptr,
                         {std::begin(kScales), std::end(kScales)}};
const Family kGraniteMoe = {"granitemoe",
                            {"granitemoe"},
                            read_granite_moe,
                            gguf_granite_moe,
                            granite_moe_weight,
                            nullptr,
                            {std::begin(kScales), std::end(kScales)}};
const Family kGraniteMoeShared = {"granitemoeshared", {},     read_granite_moe, nullptr,
                                  granite_moe_weight, nullptr};

}  // namespace triescope::formats
