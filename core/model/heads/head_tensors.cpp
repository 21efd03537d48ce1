#include "core/model/heads/head_tensors.h"

namespace triescope {

LayerTensors::LayerTensors(const std::string& prefix)
    : qkv{prefix + "self_attn.q_proj", prefix + "self_attn.k_proj", prefix + "self_attn.v_proj"},
      output{prefix + "self_attn.o_proj"},
      gate_up{prefix + "mlp.gate_proj", prefix + "mlp.up_proj"},
      down{prefix + "mlp.down_proj"},
      attention_norm(prefix + "input_layernorm.weight"),
      mlp_norm(prefix + "post_attention_layernorm.weight"),
      query_norm(prefix + "self_attn.q_norm.weight"),
      key_norm(prefix + "self_attn.k_norm.weight") {}

StackedShape stacked_shape(const formats::HeadFile& file, std::span<const std::string> names) {
  StackedShape stacked;
  for (const std::string& name : names) {
    const std::vector<std::int64_t>& shape = file.shape(name + ".weight");
    stacked.outputs += shape.at(0);
    stacked.inputs = shape.at(1);
    stacked.has_bias = stacked.has_bias || file.has(name + ".bias");
  }
  return stacked;
}

std::vector<std::int32_t> draft_vocabulary(const formats::HeadFile& file) {
  std::vector<std::int32_t> target_ids;
  if (!file.has("d2t")) return target_ids;
  const std::vector<std::int64_t> offsets = file.tensor("d2t").integers();
  for (std::size_t i = 0; i < offsets.size(); ++i)
    target_ids.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(i) + offsets[i]));
  return target_ids;
}

}  // namespace triescope
