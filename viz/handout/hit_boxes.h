// Hit boxes: which node lies where in a panel's picture. The panel itself is asked, with the mouse
// on what it drew, so a handout links what the window links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viz/draw/scene.h"
#include "viz/handout/element_canvas.h"
#include "viz/panels/panel.h"

namespace triescope::viz {

struct HitBox {
  std::int32_t node = -1;  // prompt token i: -2 - i
  Rect box;
};

// The boxes, texts and marks that `panel` drew last into `area` and that belong to one node,
// without those inside another of the same node. The fields of a row, and cells that touch from top
// to bottom, are one box. Sorted by node, then from left to right.
std::vector<HitBox> hit_boxes(Panel& panel, Rect area, const Scene& scene,
                              std::span<const Element> drawn);

}  // namespace triescope::viz
