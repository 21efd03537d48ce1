#include "viz/layouts/minimap.h"

#include <algorithm>
#include <cmath>

#include "viz/canvas/common_rect.h"

namespace triescope::viz {
namespace {

constexpr float kWidthEm = 11, kLeastHeightEm = 1.5f, kHeightEm = 5, kEdgeEm = 0.5f;
// in a smaller window there is no map
constexpr float kLeastWindowWidthEm = 20, kLeastWindowHeightEm = 13;

}  // namespace

Minimap Minimap::fit(Rect window, Point whole, Point drawn, float em, std::span<const Rect> marks,
                     Corner corner, bool held) {
  Minimap map;
  map.corner = corner;
  const bool in_sight = drawn.x >= -1 && drawn.y >= -1 && drawn.x + whole.x <= window.w + 1 &&
                        drawn.y + whole.y <= window.h + 1;
  if (in_sight || whole.x <= 0 || whole.y <= 0 || window.w < em * kLeastWindowWidthEm ||
      window.h < em * kLeastWindowHeightEm)
    return map;
  const float width = std::round(std::min(em * kWidthEm, window.w * 0.3f));
  const float height = std::round(std::clamp(width * whole.y / whole.x, em * kLeastHeightEm,
                                             std::min(em * kHeightEm, window.h * 0.3f)));
  const float edge = em * kEdgeEm;
  for (const Corner at :
       {corner, Corner::kBottomLeft, Corner::kTopLeft, Corner::kBottomRight, Corner::kTopRight}) {
    const bool left = at == Corner::kBottomLeft || at == Corner::kTopLeft,
               top = at == Corner::kTopLeft || at == Corner::kTopRight;
    const Rect box{left ? window.x + edge : window.right() - edge - width,
                   top ? window.y + edge : window.bottom() - edge - height, width, height};
    if (!held && std::ranges::any_of(marks, [&](const Rect& mark) { return overlap(box, mark); }))
      continue;
    return {box, whole, at};
  }
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
