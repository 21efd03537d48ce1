#include "core/session/model_json.h"

#include <nlohmann/json.hpp>

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
  if (!info.notes.empty()) model["notes"] = info.notes;
  return model;
}

}  // namespace triescope
