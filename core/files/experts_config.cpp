// How many experts a file's layers have, how many of them a row goes through, and how they are
// weighted. Sources: transformers' configuration_*.py, llama.cpp's llama-model.cpp.
#include <utility>

#include "core/files/family.h"

namespace triescope::formats {

void read_experts_json(const JsonFields& fields, ModelConfig& config, const char* count_key,
                       int default_count, int default_used) {
  const bool newer = !fields.has(count_key) && fields.has("num_local_experts");
  const int count = fields.integer(newer ? "num_local_experts" : count_key, default_count);
  config.experts.used = fields.integer("num_experts_per_tok", default_used);
  for (LayerConfig& layer : config.layers) layer.experts = count;
}

void read_experts_gguf(const GgufFields& fields, ModelConfig& config, bool normalise,
                       bool sigmoid) {
  const int count = fields.integer("expert_count", 0);
  if (count == 0) return;
  ExpertsConfig& experts = config.experts;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    if (fields.file().find(block + "ffn_gate_inp.weight") != nullptr)
      config.layers[i].experts = count;
    if (fields.file().find(block + "ffn_gate_inp_shexp.weight") != nullptr)
      experts.shared_gate = true;
    if (sigmoid && fields.file().find(block + "exp_probs_b.bias") != nullptr)
      experts.selection_bias = true;
    if (fields.file().find(block + "ffn_gate_up_exps.weight") != nullptr)
      config.fused_gate_up = true;
  }
  if (fields.file().find("blk.0.ffn_gate.0.weight") != nullptr)
    fields.not_supported(
        "a tensor for each expert (blk.0.ffn_gate.0.weight, llama.cpp before April 2024; convert the "
        "model again)");
  if (!config.has_experts())
    fields.not_supported("expert_count " + std::to_string(count) +
                         " without a router (ffn_gate_inp.weight) in any layer");
  experts.used = fields.integer("expert_used_count");
  experts.intermediate = fields.integer("expert_feed_forward_length", 0);
  experts.shared_intermediate = fields.integer("expert_shared_feed_forward_length", 0);
  experts.normalise = fields.boolean("expert_weights_norm", normalise);
  if (const double scale = fields.number("expert_weights_scale", 0); scale != 0)
    experts.scale = static_cast<float>(scale);
  experts.sigmoid = sigmoid;
  const int wanted = sigmoid ? 2 : 1;  // llama.cpp's LLAMA_EXPERT_GATING_FUNC_TYPE_
  if (const int score = fields.integer("expert_gating_func", wanted); score != 0 && score != wanted)
    fields.not_supported("expert_gating_func " + std::to_string(score) +
                         (sigmoid ? " (2, a sigmoid, is)" : " (1, a softmax, is)"));
  if (fields.integer("expert_group_count", 0) > 1)
    fields.not_supported("expert_group_count above 1 (experts that are chosen by groups)");
}

WeightSlice stacked_expert(const ModelConfig& config, const Part& part, std::string gate_up,
                           std::string down) {
  const std::int64_t rows = expected_shape(config, part)->rows;
  const bool is_down = part.role == Role::kDown;
  WeightSlice slice{is_down ? std::move(down) : std::move(gate_up)};
  slice.stacked = true;
  slice.first_row = part.expert * (is_down ? rows : 2 * rows);
  if (part.role == Role::kUp) slice.first_row += rows;
  return slice;
}

}  // namespace triescope::formats
