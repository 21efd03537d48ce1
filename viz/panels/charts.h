// Charts: pictures for exports only, drawn by the code of the panels that hold them. A chart is
// drawn like a panel but has no place in a layout. It names what it counts and over how many steps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viz/panels/cost_chart.h"
#include "viz/panels/panel.h"
#include "viz/query/acceptance.h"

namespace triescope::viz {

// acceptance acceptance-by-step margins margins-by-step levels acceptance-by-level, and acceptance-by-…
// for what else AcceptanceBy lists.
const std::vector<std::string>& chart_names();
// Makes any picture that can be exported: a panel or a chart. Error{kInvalidArgument}: lists the
// names.
std::unique_ptr<Panel> make_picture(const std::string& name);
// Both lists, panels first.
const std::vector<std::string>& picture_names();

std::unique_ptr<Panel> make_acceptance_chart(AcceptanceBy by);  // "acceptance-by-rank", …
// The costs of a study's methods beside each other, whatever run the scene has. REQUIRES: one or more, all
// with the same forwards. (The panel of one run is make_cost_panel().)
std::unique_ptr<Panel> make_cost_picture(std::vector<CostSeries> series);

}  // namespace triescope::viz
