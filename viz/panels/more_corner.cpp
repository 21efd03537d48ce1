#include "viz/panels/more_corner.h"

namespace triescope::viz {

Rect draw_more_corner(Canvas& canvas, Point corner, bool up, const Scene& scene) {
  const float em = scene.em, w = em * 0.7f, h = em * 1.3f;  // within the margin
  const Rect box{corner.x - w, up ? corner.y : corner.y - h, w, h};
  canvas.fill_rect(box, scene.theme.raised, em * 0.2f);
  const float x = box.x + w / 2, y = box.y + h / 2, r = em * 0.2f, tip = up ? -r : r;
  const Point arrow[] = {{x - r, y - tip / 2}, {x, y + tip / 2}, {x + r, y - tip / 2}};
  canvas.polyline(arrow, scene.theme.text, 1.5f);
  return box;
}

}  // namespace triescope::viz
