// Which panels a handout shows, and the size at which each is drawn.
#pragma once

#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/panels/panel.h"

namespace triescope::viz {

// The panels that tell most about a run, the largest first: by what its steps decide (beams,
// drafts, one token), and by what was recorded.
std::vector<std::string> handout_panels(const capture::Capture& capture);

// Sizes in em. Pictures of a page that phones show too are narrower than a paper's.
struct PaneShape {
  float width = 0;       // 0 = as wide as the panel's extent
  float height = 0;      // 0 = as high as the panel's extent
  bool flows = false;    // lines of text, as high as they become at that width
  float head_width = 0;  // > 0: the legend is a picture of its own, that wide, which stays visible
};
PaneShape pane_shape(const std::string& panel);

}  // namespace triescope::viz
