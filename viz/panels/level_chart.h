// The chart of acceptance by level: P(a draft of level d is accepted | the one before it was), with
// the number of cases and the 95 % interval of each share. It is a picture for exports, drawn like
// a panel but without a place in a layout.
#pragma once

#include <memory>
#include <vector>

#include "viz/panels/level_history.h"
#include "viz/panels/panel.h"

namespace triescope::viz {

// The levels that the text reached.
std::vector<LevelShares> reached_levels(std::vector<LevelShares> levels);
// REQUIRES: one level at least, all of them reached.
void draw_level_chart(Canvas& canvas, Rect area, const std::vector<LevelShares>& levels,
                      const Scene& scene);
std::unique_ptr<Panel> make_level_chart();  // "acceptance-by-level"

}  // namespace triescope::viz
