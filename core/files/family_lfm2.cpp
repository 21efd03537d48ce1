// LFM2 and LFM2-MoE: short convolutions in most layers, grouped attention with norms on q and k in the others; names
// of their own. The mixture has sigmoid scores and a selection bias, behind a few dense layers. Source: transformers
// 5.17.0, modeling_lfm2.py and modeling_lfm2_moe.py, and llama.cpp's converter.
#include <algorithm>

#include "core/base/error.h"
#include "core/files/family.h"

namespace triescope::formats {
namespace {

constexpr float kSumOffset = 1e-6f;  // ExpertsConfig::sum_offset

// "intermediate_size" is a beginning, from which transformers computes the size.
int adjusted(const JsonFields& fields, int size) {
  if (!fields.boolean("block_auto_adjust_ff_dim", true)) return size;
  constexpr std::int64_t kMost = 1 << 20;  // what validate() takes
  size = static_cast<int>(2 * static_cast<double>(size) / 3);
  const bool none =
      fields.raw().contains("block_ffn_dim_multiplier") && !fields.has("block_ffn_dim_multiplier");
  if (none) return size;
  const double multiplied = fields.number("block_ffn_dim_multiplier", 1) * size;
  if (!(multiplied >= 0 && multiplied <= kMost))
    fields.corrupt(
        "block_ffn_dim_multiplier",
        "a number that makes an MLP's size of at most 2^20 out of " + std::to_string(size));
  const std::int64_t multiple = fields.integer("block_multiple_of", 256);
  if (multiple < 1) fields.corrupt("block_multiple_of", "1 or more");
  const std::int64_t rounded =
      (static_cast<std::int64_t>(multiplied) + multiple - 1) / multiple * multiple;
  if (rounded > kMost)
    fields.corrupt("block_multiple_of", "a number that leaves an MLP's size of at most 2^20");
  return static_cast<int>(rounded);
}

// "conv" or "full_attention" of each layer.
std::vector<std::string> layer_types(const JsonFields& fields, std::size_t layers) {
  std::vector<std::string> types;
  if (fields.has("layer_types")) {
    types = fields.texts("layer_types");
  } else {
    types.assign(layers, fields.has("full_attn_idxs") ? "conv" : "full_attention");
    for (const std::int64_t index : fields.integers("full_attn_idxs")) {
      if (index < 0 || index >= static_cast<std::int64_t>(layers))
        fields.corrupt("full_attn_idxs", "the numbers of layers");
      types[static_cast<std::size_t>(index)] = "full_attention";
    }
  }
  if (types.size() != layers) fields.corrupt("layer_types", "one entry a layer");
  return types;
}

void read_layers(const JsonFields& fields, ModelConfig& config) {
  config.norm_eps = static_cast<float>(fields.number("norm_eps", 1e-5));
  config.tied_embeddings =
      fields.boolean("tie_embedding", fields.boolean("tie_word_embeddings", true));
  config.qk_norm = QkNorm::kHeads;
  config.conv_bias = fields.boolean("conv_bias", false);
  const int taps = fields.integer("conv_L_cache", 3);
  if (taps < 1) fields.corrupt("conv_L_cache", "1 or more");
  const std::vector<std::string> types = layer_types(fields, config.layers.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != "conv" && types[i] != "full_attention")
      fields.not_supported("layer type '" + types[i].substr(0, 40) +
                           "' (conv and full_attention are read)");
    config.layers[i].taps = types[i] == "conv" ? taps : 0;
  }
  read_rope_json(fields, config, 1e6);
}

void read_lfm2(const JsonFields& fields, ModelConfig& config) {
  read_layers(fields, config);
  config.intermediate = adjusted(fields, fields.integer("block_ff_dim", config.intermediate));
}

void read_lfm2_moe(const JsonFields& fields, ModelConfig& config) {
  read_layers(fields, config);
  read_experts_json(fields, config, "num_experts", 32, 4);
  ExpertsConfig& experts = config.experts;
  experts.intermediate = fields.integer("moe_intermediate_size", 1792);
  experts.sigmoid = true;
  experts.selection_bias = fields.boolean("use_expert_bias", true);
  experts.normalise = fields.boolean("norm_topk_prob", true);
  experts.sum_offset = kSumOffset;
  experts.scale = static_cast<float>(fields.number("routed_scaling_factor", 1));
  const auto dense = static_cast<std::size_t>(fields.integer("num_dense_layers", 2));
  for (std::size_t i = 0; i < std::min(dense, config.layers.size()); ++i)
    config.layers[i].experts = 0;
}

// A layer without key/value heads is a convolution.
void gguf_lfm2(const GgufFields& fields, ModelConfig& config) {
  config.qk_norm = QkNorm::kHeads;
  const int taps = fields.integer("shortconv.l_cache");
  const std::vector<int> kv_heads =
      fields.by_layer("attention.head_count_kv", config.layers.size());
  config.kv_heads = kv_heads.empty() ? 0 : std::ranges::max(kv_heads);
  if (config.kv_heads == 0)
    throw Error(ErrorCode::kCorruption,
                fields.file().path() +
                    ": attention.head_count_kv: expected key/value heads in one layer or more (a "
                    "layer with 0 is a convolution), found 0 in all; convert the model again");
  for (std::size_t i = 0; i < kv_heads.size(); ++i) {
    config.layers[i].taps = kv_heads[i] == 0 ? taps : 0;
    config.layers[i].kv_heads = kv_heads[i] == config.kv_heads ? 0 : kv_heads[i];
  }
  if (taps < 1)
    throw Error(ErrorCode::kCorruption, fields.file().path() +
                                            ": shortconv.l_cache: expected 1 or more, found " +
                                            std::to_string(taps));
  if (!fields.has("rope.freq_base")) config.ropes[0].theta = 1e6;
}

void gguf_lfm2_moe(const GgufFields& fields, ModelConfig& config) {
  gguf_lfm2(fields, config);
  read_experts_gguf(fields, config, true, /*sigmoid=*/true);
  config.experts.sum_offset = kSumOffset;
}

std::optional<WeightSlice> lfm2_json_weight(const ModelConfig& config, const Part& part) {
  const std::string layer = "model.layers." + std::to_string(part.layer) + ".";
  const LayerConfig& of = config.layers[static_cast<std::size_t>(part.layer)];
  const std::string mixer = layer + (of.taps > 0 ? "conv." : "self_attn.");
  const std::string mlp = layer + "feed_forward.";
  const std::string one =
      of.experts > 0 ? mlp + "experts." + std::to_string(part.expert) + "." : mlp;
  switch (part.role) {
    case Role::kFinalNorm:
      return WeightSlice{"model.embedding_norm.weight"};
    case Role::kAttentionNorm:
      return WeightSlice{layer + "operator_norm.weight"};
    case Role::kMlpNorm:
      return WeightSlice{layer + "ffn_norm.weight"};
    case Role::kQueryNorm:
      return WeightSlice{mixer + "q_layernorm.weight"};
    case Role::kKeyNorm:
      return WeightSlice{mixer + "k_layernorm.weight"};
    case Role::kOutput:
      return WeightSlice{mixer + "out_proj.weight"};
    case Role::kOutputBias:
      return WeightSlice{mixer + "out_proj.bias"};
    case Role::kRouter:
      return WeightSlice{mlp + "gate.weight"};
    case Role::kSelectionBias:
      return WeightSlice{mlp + "expert_bias"};
    case Role::kGate:
      return WeightSlice{one + "w1.weight"};
    case Role::kUp:
      return WeightSlice{one + "w3.weight"};
    case Role::kDown:
      return WeightSlice{one + "w2.weight"};
    default:
      return std::nullopt;
  }
}

std::optional<WeightSlice> lfm2_gguf_weight(const ModelConfig& config, const Part& part) {
  if (part.role == Role::kFinalNorm) return WeightSlice{"token_embd_norm.weight"};
  const bool is_output = part.role == Role::kOutput || part.role == Role::kOutputBias;
  if (!is_output || config.layers[static_cast<std::size_t>(part.layer)].taps == 0)
    return std::nullopt;
  return WeightSlice{"blk." + std::to_string(part.layer) + ".shortconv.out_proj." +
                     (part.role == Role::kOutput ? "weight" : "bias")};
}

}  // namespace

extern const Family kLfm2, kLfm2Moe;
const Family kLfm2 = {.model_type = "lfm2",
                      .gguf_names = {"lfm2"},
                      .read_json = read_lfm2,
                      .read_gguf = gguf_lfm2,
                      .json_weight = lfm2_json_weight,
                      .gguf_weight = lfm2_gguf_weight,
                      .layers_differ = true};
const Family kLfm2Moe = {.model_type = "lfm2_moe",
                         .gguf_names = {"lfm2moe"},
                         .read_json = read_lfm2_moe,
                         .read_gguf = gguf_lfm2_moe,
                         .json_weight = lfm2_json_weight,
                         .gguf_weight = lfm2_gguf_weight,
                         .layers_differ = true};

}  // namespace triescope::formats
