// A run's result as JSON: what `decode --json` prints and a study keeps. docs/cli.md describes the
// keys. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/session/session.h"

namespace triescope::app {

// A number that JSON can hold; null for NaN and infinity.
nlohmann::json number_or_null(double value);

// `method`: its name, as it was asked for. `model`: the target's.
nlohmann::json result_json(const RunResult& result, const ModelInfo& model,
                           const RunContext& context, const std::string& method);

}  // namespace triescope::app
