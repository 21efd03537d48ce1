#include "app/window/workspace/drop_side.h"

#include <algorithm>

namespace triescope::app {
namespace {

constexpr float kEdgeShare = 0.25f;

}  // namespace

DropSide drop_side(viz::Rect pane, viz::Point at) {
  const float x = (at.x - pane.x) / std::max(1.0f, pane.w);
  const float y = (at.y - pane.y) / std::max(1.0f, pane.h);
  const float nearest = std::min({x, 1 - x, y, 1 - y});
  if (nearest >= kEdgeShare) return DropSide::kTabs;
  if (nearest == x) return DropSide::kLeft;
  if (nearest == 1 - x) return DropSide::kRight;
  return nearest == y ? DropSide::kAbove : DropSide::kBelow;
}

viz::Rect drop_area(viz::Rect pane, DropSide side) {
  const float w = pane.w / 2, h = pane.h / 2;
  switch (side) {
    case DropSide::kLeft:
      return {pane.x, pane.y, w, pane.h};
    case DropSide::kRight:
      return {pane.x + w, pane.y, w, pane.h};
    case DropSide::kAbove:
      return {pane.x, pane.y, pane.w, h};
    case DropSide::kBelow:
      return {pane.x, pane.y + h, pane.w, h};
    case DropSide::kTabs:
      break;
  }
  return pane;
}

}  // namespace triescope::app
