#include "core/session/model_json.h"

#include <nlohmann/json.hpp>

namespace triescope {

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

}  // namespace triescope
