// Charts: pictures for exports only, drawn by the code of the panels that hold them. A chart is
// drawn like a panel but has no place in a layout. It names what it counts and over how many steps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viz/panels/panel.h"

namespace triescope::viz {

// acceptance acceptance-by-step margins margins-by-step levels acceptance-by-level, and acceptance-by-…
// for what else AcceptanceBy lists.
const std::vector<std::string>& chart_names();
// Makes any picture that can be exported: a panel or a chart. Error{kInvalidArgument}: lists the
// names.
std::unique_ptr<Panel> make_picture(const std::string& name);
// Both lists, panels first.
const std::vector<std::string>& picture_names();

}  // namespace triescope::viz
