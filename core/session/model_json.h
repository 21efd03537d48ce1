// A model in JSON, as captures and the command line write it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/model/model.h"

namespace triescope {

// {"path", "family", "parameters", "dtype", "device", ...}, and "notes" if there are any.
nlohmann::json model_json(const ModelInfo& info);

}  // namespace triescope
