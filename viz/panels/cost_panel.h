// The picture of a study's methods beside each other; the panel of one run is make_cost_panel().
#pragma once

#include <memory>
#include <vector>

#include "viz/panels/cost_chart.h"
#include "viz/panels/panel.h"

namespace triescope::viz {

// Draws these, whatever run the scene has. REQUIRES: one or more, all with the same forwards.
std::unique_ptr<Panel> make_cost_picture(std::vector<CostSeries> series);

}  // namespace triescope::viz
