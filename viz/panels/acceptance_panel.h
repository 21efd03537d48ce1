// The panel of acceptance by one of several things, and a chart of each for exports.
#pragma once

#include <memory>

#include "viz/panels/panel.h"
#include "viz/query/acceptance.h"

namespace triescope::viz {

std::unique_ptr<Panel> make_acceptance_chart(AcceptanceBy by);  // "acceptance-by-rank", …

}  // namespace triescope::viz
