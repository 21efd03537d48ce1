// The marks over a timeline that a person set.
#pragma once

#include <functional>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"

namespace triescope::viz {

// Draws the bookmarks of the scene's run as stars at the upper edge of `plot`, with as much of their
// notes as there is room for before the next one. `px_of`: where a step stands. `lower`: how far
// something `width` px wide there is to be moved down.
void draw_bookmarks(Canvas& canvas, Rect plot, const Scene& scene,
                    const std::function<float(double step)>& px_of,
                    const std::function<float(float px, float width)>& lower);

}  // namespace triescope::viz
