// Qwen2 and 2.5 are Llama with biases on q, k and v; Qwen3 has an RMS norm on every head's q and k
// instead.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_qwen_shared(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  read_rope_json(fields, config);
  const int window =
      fields.boolean("use_sliding_window", false) ? fields.integer("sliding_window", 4096) : 0;
  // Layers from max_window_layers on have a sliding window.
  const int first = window > 0 ? fields.integer("max_window_layers", 28) : 1 << 30;
  read_windows_json(
      fields, config, window, [](int layer, int from) { return layer >= from; }, first);
}

void read_qwen2(const JsonFields& fields, ModelConfig& config) {
  read_qwen_shared(fields, config);
  config.qkv_bias = true;
}

void read_qwen3(const JsonFields& fields, ModelConfig& config) {
  if (!fields.has("head_dim")) {  // the default is a number, not a quotient
    config.head_dim = 128;
    config.attention_scale = 0.08838834764831845f;
  }
  read_qwen_shared(fields, config);
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.qk_norm = QkNorm::kHeads;
}

void gguf_qwen2(const GgufFields& fields, ModelConfig& config) {
  read_windows_gguf(fields, config, 0, 0);
}

void gguf_qwen3(const GgufFields& fields, ModelConfig& config) {
  config.qk_norm = QkNorm::kHeads;
  read_windows_gguf(fields, config, 0, 0);
}

}  // namespace

extern const Family kQwen2, kQwen3;
const Family kQwen2 = {.model_type = "qwen2",
                       .gguf_names = {"qwen2"},
                       .read_json = read_qwen2,
                       .read_gguf = gguf_qwen2,
                       .json_weight = nullptr,
                       .gguf_weight = nullptr,
                       .overflows_f16 = true};
const Family kQwen3 = {"qwen3", {"qwen3"}, read_qwen3, gguf_qwen3, nullptr, nullptr};

}  // namespace triescope::formats
