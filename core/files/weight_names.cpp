#include "core/files/weight_names.h"

#include "core/base/error.h"
#include "core/files/family.h"

namespace triescope::formats {
namespace {

struct RoleNames {
  const char* json;  // below "model." or "model.layers.N."
  const char* gguf;  // below "" or "blk.N."
};

RoleNames names_of(Role role) {
  switch (role) {
    case Role::kEmbedding:
      return {"embed_tokens.weight", "token_embd.weight"};
    case Role::kPositions:
      return {"wpe.weight", "position_embd.weight"};
    case Role::kFinalNorm:
      return {"norm.weight", "output_norm.weight"};
    case Role::kFinalNormBias:
      return {"norm.bias", "output_norm.bias"};
    case Role::kHead:
      return {"lm_head.weight", "output.weight"};
    case Role::kHeadBias:
      return {"lm_head.bias", "output.bias"};
    case Role::kAttentionNorm:
      return {"input_layernorm.weight", "attn_norm.weight"};
    case Role::kAttentionNormBias:
      return {"input_layernorm.bias", "attn_norm.bias"};
    case Role::kQuery:
      return {"self_attn.q_proj.weight", "attn_q.weight"};
    case Role::kQueryBias:
      return {"self_attn.q_proj.bias", "attn_q.bias"};
    case Role::kKey:
      return {"self_attn.k_proj.weight", "attn_k.weight"};
    case Role::kKeyBias:
      return {"self_attn.k_proj.bias", "attn_k.bias"};
    case Role::kValue:
      return {"self_attn.v_proj.weight", "attn_v.weight"};
    case Role::kValueBias:
      return {"self_attn.v_proj.bias", "attn_v.bias"};
    case Role::kQueryNorm:
      return {"self_attn.q_norm.weight", "attn_q_norm.weight"};
    case Role::kKeyNorm:
      return {"self_attn.k_norm.weight", "attn_k_norm.weight"};
    case Role::kOutput:
      return {"self_attn.o_proj.weight", "attn_output.weight"};
    case Role::kOutputBias:
      return {"self_attn.o_proj.bias", "attn_output.bias"};
    case Role::kPostAttentionNorm:
      return {"post_attention_layernorm.weight", "post_attention_norm.weight"};
    case Role::kMlpNorm:
      return {"post_attention_layernorm.weight", "ffn_norm.weight"};
    case Role::kMlpNormBias:
      return {"post_attention_layernorm.bias", "ffn_norm.bias"};
    case Role::kGate:
      return {"mlp.gate_proj.weight", "ffn_gate.weight"};
    case Role::kGateBias:
      return {"mlp.gate_proj.bias", "ffn_gate.bias"};
    case Role::kUp:
      return {"mlp.up_proj.weight", "ffn_up.weight"};
    case Role::kUpBias:
      return {"mlp.up_proj.bias", "ffn_up.bias"};
    case Role::kDown:
      return {"mlp.down_proj.weight", "ffn_down.weight"};
    case Role::kDownBias:
      return {"mlp.down_proj.bias", "ffn_down.bias"};
    case Role::kPostMlpNorm:
      return {"post_feedforward_layernorm.weight", "post_ffw_norm.weight"};
    case Role::kRouter:
      return {"mlp.gate.weight", "ffn_gate_inp.weight"};
    case Role::kSharedGate:
      return {"mlp.shared_expert_gate.weight", "ffn_gate_inp_shexp.weight"};
    case Role::kRouterBias:
      return {"mlp.gate.bias", "ffn_gate_inp.bias"};
    case Role::kRouterScale:
      return {"router.scale", "ffn_gate_inp.scale"};
    case Role::kExpertScale:
      return {"router.per_expert_scale", "ffn_down_exps.scale"};
    case Role::kExpertsNorm:
      return {"pre_feedforward_layernorm_2.weight", "pre_ffw_norm_2.weight"};
    case Role::kPostExpertsNorm:
      return {"post_feedforward_layernorm_2.weight", "post_ffw_norm_2.weight"};
    case Role::kPostSharedNorm:
      return {"post_feedforward_layernorm_1.weight", "post_ffw_norm_1.weight"};
    case Role::kSinks:
      return {"self_attn.sinks", "attn_sinks.weight"};
    case Role::kPerLayerEmbedding:
      return {"embed_tokens_per_layer.weight", "per_layer_token_embd.weight"};
    case Role::kPerLayerProjection:
      return {"per_layer_model_projection.weight", "per_layer_model_proj.weight"};
    case Role::kPerLayerNorm:
      return {"per_layer_projection_norm.weight", "per_layer_proj_norm.weight"};
    case Role::kPerLayerGate:
      return {"per_layer_input_gate.weight", "inp_gate.weight"};
    case Role::kPerLayerOutput:
      return {"per_layer_projection.weight", "proj.weight"};
    case Role::kPostPerLayerNorm:
      return {"post_per_layer_input_norm.weight", "post_norm.weight"};
    case Role::kLayerScale:
      return {"layer_scalar", "layer_output_scale.weight"};
    case Role::kConvInput:
      return {"conv.in_proj.weight", "shortconv.in_proj.weight"};
    case Role::kConvInputBias:
      return {"conv.in_proj.bias", "shortconv.in_proj.bias"};
    case Role::kConvTaps:
      return {"conv.conv.weight", "shortconv.conv.weight"};
    case Role::kConvTapsBias:
      return {"conv.conv.bias", "shortconv.conv.bias"};
    case Role::kSelectionBias:
      return {"mlp.expert_bias", "exp_probs_b.bias"};
  }
  throw Error(ErrorCode::kInvalidArgument, "no such weight role");
}

}  // namespace

bool is_of_layer(Role role) { return role >= Role::kAttentionNorm; }
bool is_of_expert(Role role) { return role >= Role::kGate && role <= Role::kDownBias; }

bool is_shared(const ModelConfig& config, const Part& part) {
  const int experts = config.layers[static_cast<std::size_t>(part.layer)].experts;
  return experts > 0 && part.expert == experts;
}

std::optional<WeightShape> expected_shape(const ModelConfig& config, const Part& part) {
  const Role role = part.role;
  const std::int64_t hidden = config.hidden;
  const HeadShape of_layer = config.heads_of(static_cast<std::size_t>(part.layer));
  const std::int64_t query = of_layer.query_dims(), kv = of_layer.kv_dims();
  const int taps = config.layers[static_cast<std::size_t>(part.layer)].taps;
  const bool attends = taps == 0, conv_bias = !attends && config.conv_bias;
  const bool owns_value = of_layer.owns_kv && !of_layer.value_is_key;
  const std::int64_t per_layer = config.per_layer.dims;
  const std::int64_t all_layers = per_layer * static_cast<std::int64_t>(config.layers.size());
  const std::int64_t inner = config.intermediate_of(part.layer, part.expert);
  const std::int64_t experts = config.layers[static_cast<std::size_t>(part.layer)].experts;
  const auto when = [](bool present, WeightShape shape) {
    return present ? std::optional(shape) : std::nullopt;
  };
  const bool norm_bias = config.norm == NormKind::kLayer && config.norm_bias;
  const bool mlp_norm = config.pre_norms && !config.shared_norm;
  const auto norm_of_heads = [&](std::int64_t heads) -> std::optional<WeightShape> {
    if (!attends) return std::nullopt;
    switch (config.qk_norm) {
      case QkNorm::kNone:
        return std::nullopt;
      case QkNorm::kHeads:
        return WeightShape{of_layer.head_dim, 1};
      case QkNorm::kWhole:
        return WeightShape{heads * of_layer.head_dim, 1};
      case QkNorm::kOwnHeads:
        return WeightShape{heads, of_layer.head_dim};
    }
    return std::nullopt;
  };
  switch (role) {
    case Role::kEmbedding:
      return WeightShape{config.vocab_size, hidden};
    case Role::kPositions:
      return when(config.learned_positions, {config.context, hidden});
    case Role::kHead:
      return when(!config.tied_embeddings, {config.vocab_size, hidden});
    case Role::kHeadBias:
      return when(config.head_bias, {config.vocab_size, 1});
    case Role::kFinalNorm:
      return WeightShape{hidden, 1};
    case Role::kFinalNormBias:
      return when(norm_bias, {hidden, 1});
    case Role::kAttentionNorm:
      return when(config.pre_norms, {hidden, 1});
    case Role::kAttentionNormBias:
      return when(config.pre_norms && norm_bias, {hidden, 1});
    case Role::kMlpNorm:
      return when(mlp_norm, {hidden, 1});
    case Role::kMlpNormBias:
      return when(mlp_norm && norm_bias, {hidden, 1});
    case Role::kQuery:
      return when(attends, {query, hidden});
    case Role::kQueryBias:
      return when(attends && config.qkv_bias, {query, 1});
    case Role::kKey:
      return when(attends && of_layer.owns_kv, {kv, hidden});
    case Role::kValue:
      return when(attends && owns_value, {kv, hidden});
    case Role::kKeyBias:
      return when(attends && config.qkv_bias && of_layer.owns_kv, {kv, 1});
    case Role::kValueBias:
      return when(attends && config.qkv_bias && owns_value, {kv, 1});
    case Role::kQueryNorm:
      return norm_of_heads(of_layer.heads);
    case Role::kKeyNorm:
      return of_layer.owns_kv ? norm_of_heads(of_layer.kv_heads) : std::nullopt;
    case Role::kOutput:
      return WeightShape{hidden, attends ? query : hidden};
    case Role::kOutputBias:
      return when(attends ? config.output_bias : conv_bias, {hidden, 1});
    case Role::kPostAttentionNorm:
    case Role::kPostMlpNorm:
      return when(config.post_norms, {hidden, 1});
    case Role::kGate:
      return when(config.gated_mlp, {inner, hidden});
    case Role::kGateBias:
      return when(config.gated_mlp && config.mlp_bias, {inner, 1});
    case Role::kUp:
      return WeightShape{inner, hidden};
    case Role::kUpBias:
      return when(config.mlp_bias, {inner, 1});
    case Role::kDown:
      return WeightShape{hidden, inner};
    case Role::kDownBias:
      return when(config.mlp_bias, {hidden, 1});
    case Role::kRouter:
      return when(experts > 0, {experts, hidden});
    case Role::kSharedGate:
      return when(
          experts > 0 && config.experts.shared_intermediate > 0 && config.experts.shared_gate,
          {1, hidden});
    case Role::kRouterBias:
      return when(experts > 0 && config.experts.router_bias, {experts, 1});
    case Role::kExpertScale:
      return when(experts > 0 && config.experts.own_norms, {experts, 1});
    case Role::kRouterScale:
    case Role::kExpertsNorm:
    case Role::kPostExpertsNorm:
    case Role::kPostSharedNorm:
      return when(experts > 0 && config.experts.own_norms, {hidden, 1});
    case Role::kSinks:
      return when(attends && config.attention_sinks, {config.heads, 1});
    case Role::kPerLayerEmbedding:
      return when(per_layer > 0, {config.per_layer.vocab, all_layers});
    case Role::kPerLayerProjection:
      return when(per_layer > 0, {all_layers, hidden});
    case Role::kPerLayerNorm:
      return when(per_layer > 0, {per_layer, 1});
    case Role::kPerLayerGate:
      return when(per_layer > 0, {per_layer, hidden});
    case Role::kPerLayerOutput:
      return when(per_layer > 0, {hidden, per_layer});
    case Role::kPostPerLayerNorm:
      return when(per_layer > 0, {hidden, 1});
    case Role::kLayerScale:
      return when(config.layer_scale, {1, 1});
    case Role::kConvInput:
      return when(!attends, {3 * hidden, hidden});
    case Role::kConvInputBias:
      return when(conv_bias, {3 * hidden, 1});
    case Role::kConvTaps:
      return when(!attends, {hidden, taps});
    case Role::kConvTapsBias:
      return when(conv_bias, {hidden, 1});
    case Role::kSelectionBias:
      return when(experts > 0 && config.experts.selection_bias, {experts, 1});
  }
  return std::nullopt;
}

std::vector<Part> parts_of(const ModelConfig& config) {
  std::vector<Part> parts;
  const auto add = [&](const Part& part) {
    if (expected_shape(config, part)) parts.push_back(part);
  };
  for (int r = 0; r < kRoles; ++r) {
    const auto role = static_cast<Role>(r);
    if (!is_of_layer(role)) {
      add(role);
      continue;
    }
    for (int layer = 0; layer < static_cast<int>(config.layers.size()); ++layer) {
      if (!is_of_expert(role) || config.layers[static_cast<std::size_t>(layer)].experts == 0) {
        add({role, layer});
        continue;
      }
      for (int mlp = 0; mlp < config.mlps_of(layer); ++mlp) add({role, layer, mlp});
    }
  }
  return parts;
}

std::vector<std::string> WeightSlice::names() const {
  if (mxfp4) return {tensor + "_blocks", tensor + "_scales"};
  if (tensors == 0) return {tensor};
  std::vector<std::string> all;
  const std::size_t at = tensor.find('*');
  for (int i = 0; i < tensors; ++i)
    all.push_back(tensor.substr(0, at) + std::to_string(i) + tensor.substr(at + 1));
  return all;
}

std::int64_t stored_row(const WeightSlice& slice, std::int64_t row, std::int64_t rows) {
  if (slice.heads == 0) return row * slice.row_step;
  const std::int64_t per_head = rows / slice.heads, in_head = row % per_head;
  const std::int64_t half = slice.interleaved_rows / 2;
  const std::int64_t place =
      in_head < slice.interleaved_rows ? in_head % half * 2 + in_head / half : in_head;
  return row / per_head * (slice.head_stride > 0 ? slice.head_stride : per_head) + place;
}

std::int64_t rows_spanned(const WeightSlice& slice, std::int64_t rows) {
  if (slice.heads == 0) return (rows - 1) * slice.row_step + 1;
  if (slice.head_stride == 0) return rows;
  return (slice.heads - 1) * slice.head_stride + rows / slice.heads;
}

namespace {

// Where a GGUF of this configuration has q, k and v in one tensor, or gate and up.
std::optional<WeightSlice> fused_gguf_weight(const ModelConfig& config, const Part& part) {
  const std::string block = "blk." + std::to_string(part.layer) + ".";
  const std::int64_t query = config.query_dims(), kv = config.kv_dims();
  const auto qkv = [&](const char* kind, std::int64_t row) {
    return config.fused_qkv ? std::optional(WeightSlice{block + "attn_qkv." + kind, row})
                            : std::nullopt;
  };
  switch (part.role) {
    case Role::kQuery:
      return qkv("weight", 0);
    case Role::kKey:
      return qkv("weight", query);
    case Role::kValue:
      return qkv("weight", query + kv);
    case Role::kQueryBias:
      return qkv("bias", 0);
    case Role::kKeyBias:
      return qkv("bias", query);
    case Role::kValueBias:
      return qkv("bias", query + kv);
    case Role::kGate:
    case Role::kUp:
      if (!config.fused_gate_up || is_shared(config, part)) return std::nullopt;
      if (part.expert >= 0)
        return stacked_expert(config, part, block + "ffn_gate_up_exps.weight", "");
      if (config.has_experts()) return std::nullopt;
      return WeightSlice{block + "ffn_up.weight",
                         part.role == Role::kGate ? 0 : config.intermediate};
    default:
      return std::nullopt;
  }
}

}  // namespace

WeightSlice locate(const ModelConfig& config, const Part& part) {
  const Role role = part.role;
  const Family& family = family_of(config);
  const auto special = config.from_gguf ? family.gguf_weight : family.json_weight;
  if (special != nullptr) {
    if (std::optional<WeightSlice> found = special(config, part)) return *found;
  }
  WeightSlice slice;
  if (config.from_gguf) {
    if (std::optional<WeightSlice> found = fused_gguf_weight(config, part)) return *found;
    slice.tensor = is_of_layer(role) ? "blk." + std::to_string(part.layer) + "." : "";
    std::string name = names_of(role).gguf;
    if (is_shared(config, part)) {
      name.insert(name.find('.'), "_shexp");
    } else if (part.expert >= 0) {
      name.insert(name.find('.'), "_exps");
      slice.stacked = true;
      slice.first_row = part.expert * expected_shape(config, part)->rows;
    }
    slice.tensor += name;
  } else {
    slice.tensor = role == Role::kHead || role == Role::kHeadBias ? "" : "model.";
    if (is_of_layer(role)) slice.tensor += "layers." + std::to_string(part.layer) + ".";
    std::string name = names_of(role).json;
    if (is_shared(config, part)) {
      name.insert(name.find('.') + 1, "shared_expert.");
    } else if (part.expert >= 0) {
      name.insert(name.find('.') + 1, "experts." + std::to_string(part.expert) + ".");
    }
    slice.tensor += name;
  }
  if (config.interleaved_rows > 0) {
    if (role == Role::kQuery || role == Role::kQueryBias) slice.heads = config.heads;
    if (role == Role::kKey || role == Role::kKeyBias)
      slice.heads = config.heads_of(static_cast<std::size_t>(part.layer)).kv_heads;
    if (slice.heads > 0) slice.interleaved_rows = config.interleaved_rows;
  }
  return slice;
}

}  // namespace triescope::formats
