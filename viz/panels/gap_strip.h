// A strip of squares, some of them hollow: what a model leaves out of its layers.
#pragma once

#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/left_out_layers.h"

namespace triescope::viz {

// A square a layer: filled, hollow where the layer is left out, or half filled, by its attention above or its MLP
// below, where that is all that stays. Draws nothing without layers.
void draw_gap_strip(Canvas& canvas, Rect box, const std::vector<LeftOut>& gaps, const Scene& scene);

}  // namespace triescope::viz
