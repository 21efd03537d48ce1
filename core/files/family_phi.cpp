// Phi-1, 1.5 and 2: attention and MLP side by side behind one layer norm; rope over half a head; a
// plain GELU MLP; biases everywhere, on the output head too.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void phi(ModelConfig& config) {
  config.norm = NormKind::kLayer;
  config.parallel_residual = config.shared_norm = true;
  config.gated_mlp = false;
  config.qkv_bias = config.output_bias = config.mlp_bias = config.head_bias = true;
}

void read_phi(const JsonFields& fields, ModelConfig& config) {
  read_layer_norm_json(fields, config, "layer_norm_eps");
  config.activation = activation_from_json(fields, "hidden_act", "gelu_new");
  if (fields.boolean("qk_layernorm", false))
    fields.not_supported("qk_layernorm true in phi (Phi-1, 1.5 and 2 have false); it");
  read_rope_json(fields, config, 10000, 0.5);
  phi(config);
}

void gguf_phi2(const GgufFields& fields, ModelConfig& config) {
  config.activation = Activation::kGeluTanh;
  config.fused_qkv = fields.file().find("blk.0.attn_qkv.weight") != nullptr;
  phi(config);
}

std::optional<WeightSlice> phi_json_weight(const ModelConfig&, const Part& part) {
  const std::string layer = "model.layers." + std::to_string(part.layer) + ".";
  switch (part.role) {
    case Role::kFinalNorm:
      return WeightSlice{"model.final_layernorm.weight"};
    case Role::kFinalNormBias:
      return WeightSlice{"model.final_layernorm.bias"};
    case Role::kOutput:
      return WeightSlice{layer + "self_attn.dense.weight"};
    case Role::kOutputBias:
      return WeightSlice{layer + "self_attn.dense.bias"};
    case Role::kUp:
      return WeightSlice{layer + "mlp.fc1.weight"};
    case Role::kUpBias:
      return WeightSlice{layer + "mlp.fc1.bias"};
    case Role::kDown:
      return WeightSlice{layer + "mlp.fc2.weight"};
    case Role::kDownBias:
      return WeightSlice{layer + "mlp.fc2.bias"};
    default:
      return std::nullopt;
  }
}

}  // namespace

extern const Family kPhi;
const Family kPhi = {"phi", {"phi2"}, read_phi, gguf_phi2, phi_json_weight, nullptr};

}  // namespace triescope::formats
