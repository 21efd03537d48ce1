#include "viz/panels/page_scroll.h"

#include <algorithm>

namespace triescope::viz {
namespace {

// The corner's top right is `at`, or its bottom right if it points down.
Rect draw_more_corner(Canvas& canvas, Point at, bool up, const Scene& scene) {
  const float em = scene.em, w = em * 0.7f, h = em * 1.3f;  // within the margin
  const Rect box{at.x - w, up ? at.y : at.y - h, w, h};
  canvas.fill_rect(box, scene.theme.raised, em * 0.2f);
  const float x = box.x + w / 2, y = box.y + h / 2, r = em * 0.2f, tip = up ? -r : r;
  const Point arrow[] = {{x - r, y - tip / 2}, {x, y + tip / 2}, {x + r, y - tip / 2}};
  canvas.polyline(arrow, scene.theme.text, 1.5f);
  return box;
}

}  // namespace

void PageScroll::fit(float overflow, float start) {
  overflow_ = std::max(0.0f, overflow);
  at_ = std::clamp(moved_ ? wanted_ : start, 0.0f, overflow_);
}

void PageScroll::draw_corners(Canvas& canvas, Rect area, float page, bool above, bool below,
                              const Scene& scene) {
  clear();
  page_ = page;
  if (above) above_ = draw_more_corner(canvas, {area.right(), area.y}, /*up=*/true, scene);
  if (below) below_ = draw_more_corner(canvas, {area.right(), area.bottom()}, /*up=*/false, scene);
}

void PageScroll::draw_corners(Canvas& canvas, Rect area, const Scene& scene) {
  const bool scrolls = !scene.export_mode && overflow_ > 0;
  draw_corners(canvas, area, std::max(scene.em, area.h - 2 * scene.em), scrolls && at_ > 0,
               scrolls && at_ < overflow_, scene);
}

bool PageScroll::input(const Input& in, const Scene& scene, Reaction& reaction) {
  const float by = (in.inside ? -in.wheel * scene.em * 3 : 0) - (in.dragging ? in.drag_delta.y : 0);
  if (by != 0) move(by);
  for (const bool up : {true, false}) {
    if (!in.inside || !(up ? above_ : below_).contains(in.mouse)) continue;
    reaction.tooltip = {up ? "more above: click, or scroll" : "more below: click, or scroll"};
    if (in.clicked) move(up ? -page_ : page_);
    return true;
  }
  return false;
}

void PageScroll::move(float by) {
  at_ = wanted_ = std::clamp(at_ + by, 0.0f, overflow_);
  moved_ = true;
}

}  // namespace triescope::viz
