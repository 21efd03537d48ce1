// TrieView: zoom, pan and following of the trie panel. In px, relative to the panel's area, so that
// a resized pane keeps its place. Plain state and arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "viz/canvas/canvas.h"
#include "viz/layouts/zoom.h"

namespace triescope::viz {

struct TrieView {
  static constexpr float kMinZoom = 0.004f, kMaxZoom = 4;

  enum class Mode : std::uint8_t {
    kFollow,  // the growing end stays in sight
    kFit,     // everything is in sight
    kFree,    // where the user put it
  };
  Mode mode = Mode::kFollow;
  float zoom = 1;  // the user's
  Point origin;    // kFree: of the layout, from the top left of the body
  // Long and thin trees: rows are never closer than this, though columns are. 0 = as zoom says.
  float min_pitch = 0;

  // What was drawn last: where input acts on.
  Point drawn;
  float drawn_zoom = 1, drawn_pitch = 1;

  // `width` px and `rows` at zoom 1, a row being `pitch` px high; `end_x`, `end_row`: what to keep
  // in sight.
  void place(Rect body, float width, float rows, float pitch, float end_x, float end_row,
             float margin) {
    pitch_ = pitch;
    if (mode == Mode::kFree) {
      drawn = origin;
      drawn_zoom = zoom;
      drawn_pitch = pitch_at(zoom);
      return;
    }
    const float room = body.h - 2 * margin;
    drawn_zoom = zoom;
    if (mode == Mode::kFit) {
      drawn_zoom =
          std::clamp(std::min((body.w - 2 * margin) / std::max(1.0f, width), room / (rows * pitch)),
                     kMinZoom, 1.25f);
      min_pitch = std::min(kSpreadPx, room / std::max(1.0f, rows));
    }
    drawn_pitch = pitch_at(drawn_zoom);
    drawn.x = along(body.w, width * drawn_zoom, end_x * drawn_zoom, margin, true);
    drawn.y = along(body.h, rows * drawn_pitch, end_row * drawn_pitch, margin, false);
  }

  // The same, but while it follows what is drawn stays where it is: the view moves only where a part of
  // `need` (px at zoom 1, from the tree's top left) would be out of sight, and then so far that there is
  // room to grow: as much as the tree will take, where `whole`, its width at the end, is known (else 0). It
  // begins at the top left.
  void place_steady(Rect body, float width, float rows, float pitch, Rect need, float margin,
                    float whole) {
    if (mode != Mode::kFollow)
      return place(body, width, rows, pitch, need.right(), need.y / pitch, margin);
    const Rect now{body.w, body.h, zoom, pitch};  // what `drawn` was found for
    const bool first =
        now.x != steady_.x || now.y != steady_.y || now.w != steady_.w || now.h != steady_.h;
    steady_ = now;
    pitch_ = pitch;
    drawn_zoom = zoom;
    drawn_pitch = pitch_at(zoom);
    const float down = drawn_pitch / pitch;
    const Rect end{need.x * zoom, need.y * down, need.w * zoom, need.h * down};
    const Point most{0.6f * body.w, 0.75f * body.h};  // where the end comes to stand
    drawn.x = kept(first ? margin : drawn.x, body.w, end.x, end.right(), margin,
                   std::max(most.x - end.right(),
                            whole > 0 ? body.w - margin - whole * zoom : most.x - end.right()));
    drawn.y =
        kept(first ? margin : drawn.y, body.h, end.y, end.bottom(), margin, most.y - end.bottom());
  }

  void move(float dx, float dy) {
    adopt();
    origin.x += dx;
    origin.y += dy;
  }
  void zoom_at(Point at, float factor) {  // `at`: from the top left of the body
    adopt();
    const float next = std::clamp(zoom * factor, kMinZoom, kMaxZoom);
    origin.x = -scroll_about(-origin.x, at.x, next / zoom);
    origin.y = -scroll_about(-origin.y, at.y, pitch_at(next) / pitch_at(zoom));
    zoom = next;
  }
  // Once: everything. Again: back to following at the readable size.
  void fit() {
    mode = mode == Mode::kFit ? Mode::kFollow : Mode::kFit;
    if (mode == Mode::kFit) return;
    zoom = 1;
    min_pitch = 0;
  }

 private:
  static constexpr float kSpreadPx = 9;
  Rect steady_;
  // `at` where [begin, end] is in sight from there; else `wanted`, but never with `begin` out of sight nor
  // room before the tree.
  static float kept(float at, float room, float begin, float end, float margin, float wanted) {
    if (at + begin >= margin - 0.5f && at + end <= room - margin + 0.5f) return at;
    return std::min(margin, std::max(margin - begin, wanted));
  }
  float pitch_at(float z) const { return std::max(pitch_ * z, min_pitch); }
  float pitch_ = 1;
  void adopt() {
    if (mode == Mode::kFree) return;
    mode = Mode::kFree;
    origin = drawn;
    zoom = drawn_zoom;
  }
  // What fits is shown whole (in the middle, or from the left); else the end, as far as there is
  // something to see.
  static float along(float room, float size, float end, float margin, bool from_left) {
    if (size + 2 * margin <= room) return from_left ? margin : (room - size) / 2;
    const float wanted = from_left ? room - margin - end : room / 2 - end;
    return std::clamp(wanted, room - margin - size, margin);
  }
};

}  // namespace triescope::viz
