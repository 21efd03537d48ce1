#include "core/session/model_json.h"

#include <nlohmann/json.hpp>

#include "core/base/base64.h"
#include "core/model/memory_need.h"

namespace triescope {

nlohmann::json row_costs_json(const RowCosts& costs) {
  return {{"cheap_rows", costs.cheap_rows}, {"second_row", costs.second_row},
          {"cheap_row", costs.cheap_row},   {"dear_row", costs.dear_row},
          {"of_experts", costs.of_experts}, {"chosen", costs.chosen}};
}

LoadOptions load_options_of(const ModelInfo& info) {
  LoadOptions options;
  options.device = info.device.empty() ? "cpu" : info.device;
  options.dtype = info.dtype;
  options.kv_dtype = info.kv_dtype;
  return options;
}

nlohmann::json memory_json(const ModelInfo& info) {
  const MemoryNeed need = memory_need(info, load_options_of(info));
  return {
      {"weights", need.weights}, {"scratch", need.scratch - need.logits}, {"logits", need.logits}};
}

nlohmann::json model_json(const ModelInfo& info) {
  nlohmann::json model = {{"path", info.path},
                          {"family", info.family},
                          {"name", info.name},
                          {"parameters", info.parameters},
                          {"file_bytes", info.file_bytes},
                          {"dtype", to_string(info.dtype)},
                          {"device", info.device},
                          {"format", info.format},
                          {"quantisation", info.quantisation},
                          {"layers", info.layers},
                          {"hidden", info.hidden},
                          {"heads", info.heads},
                          {"kv_heads", info.kv_heads},
                          {"head_dim", info.head_dim},
                          {"vocab_size", info.vocab_size},
                          {"eos_token_ids", info.eos_token_ids},
                          {"context", info.context},
                          {"sliding_window", info.sliding_window}};
  if (info.experts > 0) {
    model["experts"] = info.experts;
    model["experts_used"] = info.experts_used;
    model["expert_bytes"] = info.expert_bytes;
    model["active_parameters"] = info.active_parameters;
    model["active_bytes"] = info.active_bytes;
  }
  if (!info.notes.empty()) model["notes"] = info.notes;
  return model;
}

std::string vocabulary_bits(std::span<const std::int32_t> tokens, int vocab_size) {
  std::string bits((static_cast<std::size_t>(vocab_size) + 7) / 8, '\0');
  for (const std::int32_t token : tokens) {
    const auto at = static_cast<std::size_t>(token);
    if (token < 0 || token >= vocab_size) continue;
    bits[at / 8] = static_cast<char>(static_cast<unsigned char>(bits[at / 8]) | 1u << (at % 8));
  }
  return to_base64(bits);
}

}  // namespace triescope
