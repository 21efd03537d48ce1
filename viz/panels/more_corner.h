// A corner of a panel that says that more lies above or below, out of sight.
#pragma once

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

// Draws it at the right edge: its top right corner is `corner`, or its bottom right one if it points down.
// Returns its area, for the mouse.
Rect draw_more_corner(Canvas& canvas, Point corner, bool up, const Scene& scene);

}  // namespace triescope::viz
