// A strip of squares, some of them hollow: the layers that a model leaves out.
#pragma once

#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

// A square for each place: filled, or hollow where there is a gap. Draws nothing without places.
void draw_gap_strip(Canvas& canvas, Rect box, const std::vector<bool>& gaps, const Scene& scene);

}  // namespace triescope::viz
