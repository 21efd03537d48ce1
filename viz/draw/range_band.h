// The steps to which figures are limited, as a band over a plot along the steps: a tint between two
// lines that are visible on any ground.
#pragma once

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

void draw_range_band(Canvas& canvas, Rect area, const Scene& scene);

}  // namespace triescope::viz
