// A cost model as JSON, as `triescope cost --json` prints it; docs/cli.md describes the keys.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "viz/panels/cost_chart.h"

namespace triescope::app {

nlohmann::ordered_json cost_json(const std::vector<viz::CostSeries>& series);

}  // namespace triescope::app
