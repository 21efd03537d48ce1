// Minimap: a small picture of something larger than its window, with the window on it. Pure geometry,
// in px of the canvas; `drawn` is where the whole begins, from the top left of its window.
#pragma once

#include <cstdint>
#include <span>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// Of the window; in the order in which they are tried.
enum class Corner : std::uint8_t { kBottomLeft, kTopLeft, kBottomRight, kTopRight };

struct Minimap {
  Rect box;     // empty: the whole is in sight, or there is no room
  Point whole;  // size of the whole, as drawn
  Corner corner = Corner::kBottomLeft;

  // In the first corner where it lies on none of `marks`, `corner` before the others, so that it stays
  // where it is as long as it can; none of them: no map. `held`: in `corner`, whatever lies there.
  static Minimap fit(Rect window, Point whole, Point drawn, float em,
                     std::span<const Rect> marks = {}, Corner corner = Corner::kBottomLeft,
                     bool held = false);
  bool shown() const { return box.w > 0; }
  // The part of the box that the window shows.
  Rect seen(Rect window, Point drawn) const;
  // `drawn` with the place under `mouse` in the middle of the window.
  Point drawn_for(Rect window, Point mouse) const;
};

}  // namespace triescope::viz
