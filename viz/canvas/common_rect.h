// What two rectangles have in common.
#pragma once

#include <algorithm>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// Where nothing is in common, the width or the height is 0.
inline Rect common_rect(Rect a, Rect b) {
  const float x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::max(0.0f, std::min(a.right(), b.right()) - x),
          std::max(0.0f, std::min(a.bottom(), b.bottom()) - y)};
}

inline bool overlap(Rect a, Rect b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

}  // namespace triescope::viz
