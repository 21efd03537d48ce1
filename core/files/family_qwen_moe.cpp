// Qwen2-MoE (1.5-MoE, 2-57B) and Qwen3-MoE (30B-A3B, Coder): Qwen 2 and 3 with experts. Some layers
// may have one MLP instead; Qwen2's layers with experts have one more that all rows share, by a gate.
#include <algorithm>
#include <cmath>

#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_qwen_experts(const JsonFields& fields, ModelConfig& config, int count, int used,
                       int intermediate) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  read_rope_json(fields, config);
  read_experts_json(fields, config, "num_experts", count, used);
  config.experts.intermediate = fields.integer("moe_intermediate_size", intermediate);
  config.experts.normalise = fields.boolean("norm_topk_prob", false);
  const int step = fields.integer("decoder_sparse_step", 1);
  if (step < 1) fields.corrupt("decoder_sparse_step", "1 or more");
  const std::vector<std::int64_t> dense = fields.integers("mlp_only_layers");
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const bool named = std::ranges::find(dense, static_cast<std::int64_t>(i)) != dense.end();
    if (named || (i + 1) % static_cast<std::size_t>(step) != 0) config.layers[i].experts = 0;
  }
}

void read_qwen2_moe(const JsonFields& fields, ModelConfig& config) {
  read_qwen_experts(fields, config, 60, 4, 1408);
  config.experts.shared_intermediate = fields.integer("shared_expert_intermediate_size", 5632);
  config.experts.shared_gate = true;
  config.qkv_bias = fields.boolean("qkv_bias", true);
  const int window =
      fields.boolean("use_sliding_window", false) ? window_from_json(fields, 4096) : 0;
  // Every other layer below max_window_layers has a window.
  const int end = window > 0 ? fields.integer("max_window_layers", 28) : 0;
  read_windows_json(
      fields, config, window, [](int layer, int from) { return layer % 2 == 0 && layer < from; },
      end);
}

void read_qwen3_moe(const JsonFields& fields, ModelConfig& config) {
  read_qwen_experts(fields, config, 128, 8, 768);
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.qk_norm = QkNorm::kHeads;
  const int window =
      fields.boolean("use_sliding_window", false) ? window_from_json(fields, 4096) : 0;
  for (LayerConfig& layer : config.layers) layer.window = window;
}

void gguf_qwen2_moe(const GgufFields& fields, ModelConfig& config) {
  read_windows_gguf(fields, config, 0, 0);
  read_experts_gguf(fields, config, false);
}

void gguf_qwen3_moe(const GgufFields& fields, ModelConfig& config) {
  config.qk_norm = QkNorm::kHeads;
  read_windows_gguf(fields, config, 0, 0);
  read_experts_gguf(fields, config, true);
}

}  // namespace

extern const Family kQwen2Moe, kQwen3Moe;
const Family kQwen2Moe = {"qwen2_moe",    {"qwen2moe"}, read_qwen2_moe,
                          gguf_qwen2_moe, nullptr,      nullptr};
const Family kQwen3Moe = {"qwen3_moe",    {"qwen3moe"}, read_qwen3_moe,
                          gguf_qwen3_moe, nullptr,      nullptr};

}  // namespace triescope::formats
