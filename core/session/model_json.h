// A model in JSON, as captures and the command line write it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "core/model/model.h"

namespace triescope {

// {"path", "family", "parameters", "dtype", "device", ...}, and "notes" if there are any.
nlohmann::json model_json(const ModelInfo& info);
// Tokens out of 0 … vocab_size − 1 as a bit each, the lowest bit of the first byte for token 0, in
// base64: the "vocabulary" of a draft head that has fewer tokens than its target.
std::string vocabulary_bits(std::span<const std::int32_t> tokens, int vocab_size);
// The members of RowCosts.
nlohmann::json row_costs_json(const RowCosts& costs);
// {"weights", "scratch", "logits"}: bytes on its device, by memory_need(); scratch is without logits.
nlohmann::json memory_json(const ModelInfo& info);
// With the dtypes and on the device that are in force.
LoadOptions load_options_of(const ModelInfo& info);

}  // namespace triescope
