// StarCoder2: layer norms with bias, biases everywhere, a plain GELU MLP, a sliding window in every
// layer of some sizes.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_starcoder2(const JsonFields& fields, ModelConfig& config) {
  if (!fields.has("num_key_value_heads")) config.kv_heads = 2;
  read_layer_norm_json(fields, config, "norm_epsilon");
  config.activation = activation_from_json(fields, "hidden_act", "gelu_pytorch_tanh");
  config.tied_embeddings = fields.boolean("tie_word_embeddings", true);
  config.gated_mlp = false;
  config.qkv_bias = config.output_bias = config.mlp_bias = fields.boolean("use_bias", true);
  read_rope_json(fields, config);
  const int window = fields.integer("sliding_window", 0);
  for (LayerConfig& layer : config.layers) layer.window = window;
}

void gguf_starcoder2(const GgufFields& fields, ModelConfig& config) {
  config.norm = NormKind::kLayer;
  config.activation = Activation::kGeluTanh;
  config.gated_mlp = false;
  // The converter leaves the window out.
  read_windows_gguf(fields, config, 0, 0);
}

std::optional<WeightSlice> starcoder2_json_weight(const ModelConfig&, const Part& part) {
  const std::string mlp = "model.layers." + std::to_string(part.layer) + ".mlp.";
  switch (part.role) {
    case Role::kUp:
      return WeightSlice{mlp + "c_fc.weight"};
    case Role::kUpBias:
      return WeightSlice{mlp + "c_fc.bias"};
    case Role::kDown:
      return WeightSlice{mlp + "c_proj.weight"};
    case Role::kDownBias:
      return WeightSlice{mlp + "c_proj.bias"};
    default:
      return std::nullopt;
  }
}

}  // namespace

extern const Family kStarCoder2;
const Family kStarCoder2 = {"starcoder2",    {"starcoder2"},         read_starcoder2,
                            gguf_starcoder2, starcoder2_json_weight, nullptr};

}  // namespace triescope::formats
