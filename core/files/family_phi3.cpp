// Phi-3 and 3.5: q, k and v are one tensor, gate and up another; longrope; a part of each head may
// have no rope.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

// transformers discards the cache when the text outgrows the original context.
void note_switch(ModelConfig& config) {
  if (config.ropes[0].kind == RopeKind::kLongRope)
    config.kv_valid_until = config.ropes[0].original_context;
}

void read_phi3(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  read_rope_json(fields, config, 10000, 1.0);
  if (config.ropes[0].kind != RopeKind::kDefault && config.ropes[0].kind != RopeKind::kLongRope) {
    fields.not_supported("a rope type other than default and longrope in phi3");
  }
  note_switch(config);
  const int window = fields.integer("sliding_window", 0);
  for (LayerConfig& layer : config.layers) layer.window = window;
}

void gguf_phi3(const GgufFields& fields, ModelConfig& config) {
  config.fused_qkv = config.fused_gate_up = true;
  note_switch(config);
  read_windows_gguf(fields, config, 0, 0);
}

std::optional<WeightSlice> phi3_json_weight(const ModelConfig& config, const Part& part) {
  const std::string layer = "model.layers." + std::to_string(part.layer) + ".";
  const std::string qkv = layer + "self_attn.qkv_proj.weight";
  switch (part.role) {
    case Role::kQuery:
      return WeightSlice{qkv, 0};
    case Role::kKey:
      return WeightSlice{qkv, config.query_dims()};
    case Role::kValue:
      return WeightSlice{qkv, config.query_dims() + config.kv_dims()};
    default:
      return fused_gate_up(config, part);
  }
}

}  // namespace

extern const Family kPhi3;
const Family kPhi3 = {"phi3", {"phi3"}, read_phi3, gguf_phi3, phi3_json_weight, nullptr};

}  // namespace triescope::formats
