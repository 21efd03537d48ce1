#include "viz/layouts/minimap.h"

#include <algorithm>
#include <cmath>

namespace triescope::viz {
namespace {

constexpr float kWidthEm = 11, kLeastHeightEm = 1.5f, kHeightEm = 5, kEdgeEm = 0.5f;
constexpr float kLeastWindowWidthEm = 20, kLeastWindowHeightEm = 13;  // smaller: no room

}  // namespace

Minimap Minimap::fit(Rect window, Point whole, Point drawn, float em) {
  Minimap map;
  const bool in_sight = drawn.x >= -1 && drawn.y >= -1 && drawn.x + whole.x <= window.w + 1 &&
                        drawn.y + whole.y <= window.h + 1;
  if (in_sight || whole.x <= 0 || whole.y <= 0 || window.w < em * kLeastWindowWidthEm ||
      window.h < em * kLeastWindowHeightEm)
    return map;
  map.whole = whole;
  const float width = std::round(std::min(em * kWidthEm, window.w * 0.3f));
  const float height = std::round(std::clamp(width * whole.y / whole.x, em * kLeastHeightEm,
                                             std::min(em * kHeightEm, window.h * 0.3f)));
  map.box = {window.x + em * kEdgeEm, window.bottom() - em * kEdgeEm - height, width, height};
  return map;
}

Rect Minimap::seen(Rect window, Point drawn) const {
  const float x = box.w / whole.x, y = box.h / whole.y;
  const float left = std::clamp(-drawn.x * x, 0.0f, box.w),
              right = std::clamp((window.w - drawn.x) * x, 0.0f, box.w),
              top = std::clamp(-drawn.y * y, 0.0f, box.h),
              bottom = std::clamp((window.h - drawn.y) * y, 0.0f, box.h);
  return {box.x + left, box.y + top, right - left, bottom - top};
}

Point Minimap::drawn_for(Rect window, Point mouse) const {
  const float x = std::clamp((mouse.x - box.x) / box.w, 0.0f, 1.0f),
              y = std::clamp((mouse.y - box.y) / box.h, 0.0f, 1.0f);
  return {window.w / 2 - x * whole.x, window.h / 2 - y * whole.y};
}

}  // namespace triescope::viz
