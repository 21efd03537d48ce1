// Where a dragged panel would drop in a pane. Pure; sizes in px.
#pragma once

#include <cstdint>

#include "viz/canvas/canvas.h"

namespace triescope::app {

enum class DropSide : std::uint8_t { kTabs, kLeft, kRight, kAbove, kBelow };
// A drop in the outer quarter of a pane takes that side of it; elsewhere it becomes a tab.
DropSide drop_side(viz::Rect pane, viz::Point at);
// The part of the pane that the drop would fill.
viz::Rect drop_area(viz::Rect pane, DropSide side);

}  // namespace triescope::app
