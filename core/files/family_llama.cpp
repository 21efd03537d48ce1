// Llama 2 and 3.x, and SmolLM2: pre-norm RMS, rotary positions, grouped-query attention, gated SiLU
// MLP. Source: transformers models/llama. GGUF's converter interleaves the rows of q and k for
// "llama" (LlamaModel.permute). A GGUF of Mistral or Mixtral says "llama" too.
#include "core/files/family.h"

namespace triescope::formats {
namespace {

void read_llama(const JsonFields& fields, ModelConfig& config) {
  config.activation = activation_from_json(fields, "hidden_act", "silu");
  config.qkv_bias = config.output_bias = fields.boolean("attention_bias", false);
  config.mlp_bias = fields.boolean("mlp_bias", false);
  read_rope_json(fields, config);
}

void gguf_llama(const GgufFields& fields, ModelConfig& config) {
  config.interleaved_rows = config.head_dim;
  // Mistral's GGUF says "llama" too, and llama.cpp's converter leaves its window out.
  read_windows_gguf(fields, config, 0, 0);
  read_experts_gguf(fields, config, true);  // Mixtral
}

}  // namespace

extern const Family kLlama;
const Family kLlama = {"llama", {"llama"}, read_llama, gguf_llama, nullptr, nullptr};

}  // namespace triescope::formats
