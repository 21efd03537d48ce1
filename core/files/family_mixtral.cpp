// Mixtral is Mistral with experts in every layer. In GGUF it is a "llama" with expert_count
// (family_llama.cpp).
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_mixtral(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.norm_eps = static_cast<float>(fields.number("rms_norm_eps", 1e-5));
  read_rope_json(fields, config, 1000000);
  const int window = window_from_json(fields, 0);
  for (LayerConfig& layer : config.layers) layer.window = window;
  read_experts_json(fields, config, "num_local_experts", 8, 2);
  config.experts.normalise = true;
}

std::optional<WeightSlice> mixtral_weight(const ModelConfig&, const Part& part) {
  const std::string block = "model.layers." + std::to_string(part.layer) + ".block_sparse_moe.";
  const std::string expert = block + "experts." + std::to_string(part.expert) + ".";
  switch (part.role) {
    case Role::kRouter:
      return WeightSlice{block + "gate.weight"};
    case Role::kGate:
      return WeightSlice{expert + "w1.weight"};
    case Role::kDown:
      return WeightSlice{expert + "w2.weight"};
    case Role::kUp:
      return WeightSlice{expert + "w3.weight"};
    default:
      return std::nullopt;
  }
}

}  // namespace

extern const Family kMixtral;
const Family kMixtral = {"mixtral", {}, read_mixtral, nullptr, mixtral_weight, nullptr};

}  // namespace triescope::formats
