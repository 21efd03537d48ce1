// GPT-2: learned positions, layer norms with bias, one fused q/k/v matrix, a plain GELU MLP;
// safetensors store the weights as [in, out].
#include <algorithm>
#include <cmath>

#include "core/files/family.h"

namespace triescope::formats {
namespace {

void gpt2(ModelConfig& config) {
  config.norm = NormKind::kLayer;
  config.gated_mlp = false;
  config.qkv_bias = config.output_bias = config.mlp_bias = true;
  config.learned_positions = true;
  config.ropes.clear();
  for (LayerConfig& layer : config.layers) layer.rope = -1;
}

void read_gpt2(const JsonFields& fields, ModelConfig& config) {
  config.hidden = fields.integer("n_embd");
  config.heads = config.kv_heads = fields.integer("n_head");
  if (config.heads < 1 || config.hidden % config.heads != 0)
    fields.corrupt("n_embd", "a multiple of n_head");
  config.head_dim = config.hidden / config.heads;
  config.intermediate = fields.integer("n_inner", 4 * config.hidden);
  config.vocab_size = fields.integer("vocab_size");
  config.context = fields.integer("n_positions", 1024);
  const int layers = fields.integer("n_layer");
  if (layers < 1 || layers > 1024) fields.corrupt("n_layer", "1 to 1024");
  config.layers.assign(static_cast<std::size_t>(layers), {});
  config.norm_eps = static_cast<float>(fields.number("layer_norm_epsilon", 1e-5));
  config.activation = activation_from_json(fields, "activation_function", "gelu_new");
  config.tied_embeddings = fields.boolean("tie_word_embeddings", true);
  const bool scaled = fields.boolean("scale_attn_weights", true);
  config.attention_scale =
      scaled ? 1.0f / std::sqrt(static_cast<float>(std::max(config.head_dim, 1))) : 1.0f;
  if (fields.boolean("scale_attn_by_inverse_layer_idx", false))
    fields.not_supported("scale_attn_by_inverse_layer_idx");
  if (fields.boolean("add_cross_attention", false)) fields.not_supported("add_cross_attention");
  gpt2(config);
}

void gguf_gpt2(const GgufFields&, ModelConfig& config) {
  config.activation = Activation::kGeluTanh;
  config.fused_qkv = true;
  gpt2(config);
}

std::optional<WeightSlice> gpt2_json_weight(const ModelConfig& config, const Part& part) {
  const std::string block = "transformer.h." + std::to_string(part.layer) + ".";
  const std::int64_t hidden = config.hidden;
  switch (part.role) {
    case Role::kEmbedding:
      return WeightSlice{"transformer.wte.weight"};
    case Role::kPositions:
      return WeightSlice{"transformer.wpe.weight"};
    case Role::kFinalNorm:
      return WeightSlice{"transformer.ln_f.weight"};
    case Role::kFinalNormBias:
      return WeightSlice{"transformer.ln_f.bias"};
    case Role::kAttentionNorm:
      return WeightSlice{block + "ln_1.weight"};
    case Role::kAttentionNormBias:
      return WeightSlice{block + "ln_1.bias"};
    case Role::kMlpNorm:
      return WeightSlice{block + "ln_2.weight"};
    case Role::kMlpNormBias:
      return WeightSlice{block + "ln_2.bias"};
    case Role::kQuery:
      return WeightSlice{block + "attn.c_attn.weight", 0, true};
    case Role::kKey:
      return WeightSlice{block + "attn.c_attn.weight", hidden, true};
    case Role::kValue:
      return WeightSlice{block + "attn.c_attn.weight", 2 * hidden, true};
    case Role::kQueryBias:
      return WeightSlice{block + "attn.c_attn.bias", 0};
    case Role::kKeyBias:
      return WeightSlice{block + "attn.c_attn.bias", hidden};
    case Role::kValueBias:
      return WeightSlice{block + "attn.c_attn.bias", 2 * hidden};
    case Role::kOutput:
      return WeightSlice{block + "attn.c_proj.weight", 0, true};
    case Role::kOutputBias:
      return WeightSlice{block + "attn.c_proj.bias"};
    case Role::kUp:
      return WeightSlice{block + "mlp.c_fc.weight", 0, true};
    case Role::kUpBias:
      return WeightSlice{block + "mlp.c_fc.bias"};
    case Role::kDown:
      return WeightSlice{block + "mlp.c_proj.weight", 0, true};
    case Role::kDownBias:
      return WeightSlice{block + "mlp.c_proj.bias"};
    default:
      return std::nullopt;
  }
}

}  // namespace

extern const Family kGpt2;
const Family kGpt2 = {.model_type = "gpt2",
                      .gguf_names = {"gpt2"},
                      .read_json = read_gpt2,
                      .read_gguf = gguf_gpt2,
                      .json_weight = gpt2_json_weight,
                      .gguf_weight = nullptr,
                      .names_own_sizes = true};

}  // namespace triescope::formats
