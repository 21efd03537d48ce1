// GPT-NeoX and Pythia: layer norms with bias, attention and MLP side by side, each with a norm of
// its own; rope over a part of each head; a plain GELU MLP. In a folder q, k and v are one tensor,
// head by head: a head's q, then its k, then its v.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void neox(ModelConfig& config, bool parallel) {
  config.norm = NormKind::kLayer;
  config.gated_mlp = false;
  config.parallel_residual = parallel;
}

void read_neox(const JsonFields& fields, ModelConfig& config) {
  config.kv_heads = config.heads;
  if (config.hidden % config.heads != 0)
    fields.corrupt("hidden_size",
                   "a multiple of num_attention_heads = " + std::to_string(config.heads));
  read_layer_norm_json(fields, config, "layer_norm_eps");
  config.activation = activation_from_json(fields, "hidden_act", "gelu");
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", true);
  config.mlp_bias = true;
  read_rope_json(fields, config, fields.number("rotary_emb_base", 10000),
                 fields.number("rotary_pct", 0.25));
  neox(config, fields.boolean("use_parallel_residual", true));
}

// The file does not name the activation. Pythia's is GELU with erf, as in transformers; llama.cpp
// takes the tanh form for it.
void gguf_neox(const GgufFields& fields, ModelConfig& config) {
  config.activation = Activation::kGelu;
  config.fused_qkv = true;
  neox(config, fields.boolean("use_parallel_residual", true));
}

std::optional<WeightSlice> neox_json_weight(const ModelConfig& config, const Part& part) {
  const std::string layer = "gpt_neox.layers." + std::to_string(part.layer) + ".";
  const auto qkv = [&](const char* kind, int place) {
    return WeightSlice{.tensor = layer + "attention.query_key_value." + kind,
                       .first_row = std::int64_t{place} * config.head_dim,
                       .heads = config.heads,
                       .head_stride = std::int64_t{3} * config.head_dim};
  };
  switch (part.role) {
    case Role::kEmbedding:
      return WeightSlice{"gpt_neox.embed_in.weight"};
    case Role::kHead:
      return WeightSlice{"embed_out.weight"};
    case Role::kFinalNorm:
      return WeightSlice{"gpt_neox.final_layer_norm.weight"};
    case Role::kFinalNormBias:
      return WeightSlice{"gpt_neox.final_layer_norm.bias"};
    case Role::kAttentionNorm:
      return WeightSlice{layer + "input_layernorm.weight"};
    case Role::kAttentionNormBias:
      return WeightSlice{layer + "input_layernorm.bias"};
    case Role::kMlpNorm:
      return WeightSlice{layer + "post_attention_layernorm.weight"};
    case Role::kMlpNormBias:
      return WeightSlice{layer + "post_attention_layernorm.bias"};
    case Role::kQuery:
      return qkv("weight", 0);
    case Role::kKey:
      return qkv("weight", 1);
    case Role::kValue:
      return qkv("weight", 2);
    case Role::kQueryBias:
      return qkv("bias", 0);
    case Role::kKeyBias:
      return qkv("bias", 1);
    case Role::kValueBias:
      return qkv("bias", 2);
    case Role::kOutput:
      return WeightSlice{layer + "attention.dense.weight"};
    case Role::kOutputBias:
      return WeightSlice{layer + "attention.dense.bias"};
    case Role::kUp:
      return WeightSlice{layer + "mlp.dense_h_to_4h.weight"};
    case Role::kUpBias:
      return WeightSlice{layer + "mlp.dense_h_to_4h.bias"};
    case Role::kDown:
      return WeightSlice{layer + "mlp.dense_4h_to_h.weight"};
    case Role::kDownBias:
      return WeightSlice{layer + "mlp.dense_4h_to_h.bias"};
    default:
      return std::nullopt;
  }
}

}  // namespace

extern const Family kGptNeoX;
const Family kGptNeoX = {"gpt_neox", {"gptneox"}, read_neox, gguf_neox, neox_json_weight, nullptr};

}  // namespace triescope::formats
