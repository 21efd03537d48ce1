// A model as captures and the command line write it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/model/model.h"

namespace triescope {

// {"path", "family", "parameters", "dtype", "device", ...}; "notes" where there are some.
nlohmann::json model_json(const ModelInfo& info);

}  // namespace triescope
