#include "viz/panels/button_row.h"

#include "viz/draw/drawing.h"

namespace triescope::viz {

ButtonRow::ButtonRow(Canvas& canvas, Rect room, const Scene& scene)
    : canvas_(canvas),
      scene_(scene),
      room_(room),
      on_(ui_text(scene, 0.82f)),
      off_(dim_text(scene, 0.82f)),
      x_(room.x),
      y_(room.y) {}

void ButtonRow::keep_together(float width) {
  if (x_ + width > room_.right()) x_ = room_.x, y_ += scene_.em * 1.5f;
}

Rect ButtonRow::place(float width) {
  if (x_ > room_.x) keep_together(width);
  const Rect box{x_, y_, width, scene_.em * 1.35f};
  x_ += width + scene_.em * 0.3f;
  return box;
}

void ButtonRow::draw(Rect box, const std::string& label, bool is_on) const {
  const float round = scene_.em * 0.3f;
  if (is_on) canvas_.fill_rect(box, scene_.theme.accent.with_alpha(0.28f), round);
  canvas_.stroke_rect(box, scene_.theme.border, 1, LineStyle::kSolid, round);
  text_in(canvas_, box, label, is_on ? on_ : off_, Align::kCenter);
}

Rect ButtonRow::button(const std::string& label, bool is_on) {
  const Rect box = place(canvas_.measure(label, on_).x + scene_.em);
  draw(box, label, is_on);
  return box;
}

}  // namespace triescope::viz
