// TrieView: zoom, pan and following of the trie panel, in px relative to the panel's area, so that
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
    kFollow,  // the growing end stays visible
    kFit,     // everything is visible
    kFree,    // where the user put it
  };
  Mode mode = Mode::kFollow;
  float zoom = 1;  // set by the user
  Point origin;    // kFree: the layout's origin, from the top left of the body
  // For long and thin trees: rows are never closer than this, though columns are. 0 = as zoom says.
  float min_pitch = 0;

  // The state that was drawn last, on which input acts.
  Point drawn;
  float drawn_zoom = 1, drawn_pitch = 1;

  // The tree takes `width` px and `rows` at zoom 1, with rows `pitch` px high. `end_x`, `end_row`:
  // what to keep visible.
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

  // The part that a view that stays must keep visible, in px at zoom 1 from the tree's top left.
  struct Sight {
    Rect all;    // if there is room for it
    Rect first;  // else this part of it
  };

  // The same, except that while following, what is drawn stays where it is. The view moves only
  // when a part of `sight` would be hidden, and then so far that there is room to grow: as much as
  // the tree will need if `whole`, its final width, is known (else 0). It begins at the top left.
  void place_steady(Rect body, float width, float rows, float pitch, const Sight& sight,
                    float margin, float whole) {
    if (mode != Mode::kFollow)
      return place(body, width, rows, pitch, sight.all.right(), sight.all.y / pitch, margin);
    const Rect now{body.w, body.h, zoom, pitch};  // the state for which `drawn` was found
    const bool begins =
        now.x != steady_.x || now.y != steady_.y || now.w != steady_.w || now.h != steady_.h;
    steady_ = now;
    pitch_ = pitch;
    drawn_zoom = zoom;
    drawn_pitch = pitch_at(zoom);
    const float down = drawn_pitch / pitch;
    const Span x{sight.all.x * zoom, sight.all.right() * zoom},
        first_x{sight.first.x * zoom, sight.first.right() * zoom},
        y{sight.all.y * down, sight.all.bottom() * down},
        first_y{sight.first.y * down, sight.first.bottom() * down};
    const Point most{kEndShare * body.w, 0.75f * body.h};  // the farthest place of the end
    const float beside = most.x - x.end;
    drawn.x = kept(begins ? margin : drawn.x, body.w, x, first_x, margin,
                   whole > 0 ? std::max(beside, body.w - margin - whole * zoom) : beside);
    drawn.y = kept(begins ? margin : drawn.y, body.h, y, first_y, margin, most.y - y.end);
  }

  void move(float dx, float dy) {
    adopt();
    origin.x += dx;
    origin.y += dy;
  }
  void zoom_at(Point at, float factor) {  // `at` is from the top left of the body
    adopt();
    const float next = std::clamp(zoom * factor, kMinZoom, kMaxZoom);
    origin.x = -scroll_about(-origin.x, at.x, next / zoom);
    origin.y = -scroll_about(-origin.y, at.y, pitch_at(next) / pitch_at(zoom));
    zoom = next;
  }
  // The first call shows everything; the second goes back to following at the readable size.
  void fit() {
    mode = mode == Mode::kFit ? Mode::kFollow : Mode::kFit;
    if (mode != Mode::kFit) follow();
  }
  // Follows at the readable size, as if nobody had moved the view.
  void follow() {
    mode = Mode::kFollow;
    zoom = 1;
    min_pitch = 0;
    steady_ = {};
  }

 private:
  static constexpr float kSpreadPx = 9;
  static constexpr float kEndShare = 0.7f;
  struct Span {
    float begin = 0, end = 0;
  };
  Rect steady_;
  // Returns `at` if `all` is visible from there; else `wanted`, but never with its beginning hidden
  // or room before the tree. Without room for all, shows what comes before the end of `first`, and
  // then as much behind it as fits.
  static float kept(float at, float room, Span all, Span first, float margin, float wanted) {
    const float size = room - 2 * margin;
    const Span shown{margin - at, margin - at + size};
    const auto holds = [](Span outer, Span inner) {
      return inner.begin >= outer.begin - 0.5f && inner.end <= outer.end + 0.5f;
    };
    if (holds(shown, all)) return at;
    if (all.end - all.begin <= size + 0.5f)
      return std::min(margin, std::max(margin - all.begin, wanted));
    if (holds(shown, first) && holds(all, shown)) return at;
    return margin - std::max(all.begin, first.end - size);
  }
  float pitch_at(float z) const { return std::max(pitch_ * z, min_pitch); }
  float pitch_ = 1;
  void adopt() {
    if (mode == Mode::kFree) return;
    mode = Mode::kFree;
    origin = drawn;
    zoom = drawn_zoom;
  }
  // Content that fits is shown whole (in the middle, or from the left); else the end is shown, as
  // far as there is something to see.
  static float along(float room, float size, float end, float margin, bool from_left) {
    if (size + 2 * margin <= room) return from_left ? margin : (room - size) / 2;
    const float wanted = from_left ? room - margin - end : room / 2 - end;
    return std::clamp(wanted, room - margin - size, margin);
  }
};

}  // namespace triescope::viz
