// A model in JSON, as captures and the command line write it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/model/model.h"

namespace triescope {

// {"path", "family", "parameters", "dtype", "device", ...}, and "notes" if there are any.
nlohmann::json model_json(const ModelInfo& info);
// The members of RowCosts.
nlohmann::json row_costs_json(const RowCosts& costs);
// {"weights", "scratch", "logits"}: bytes on its device, by memory_need(); scratch is without logits.
nlohmann::json memory_json(const ModelInfo& info);
// With the dtypes and on the device that are in force.
LoadOptions load_options_of(const ModelInfo& info);

}  // namespace triescope
