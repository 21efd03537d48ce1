// Minimap: a small picture of something larger than its window, which shows the window on it. Pure
// geometry, in px of the canvas; `drawn` is where the whole begins, from the top left of its
// window.
#pragma once

#include <cstdint>
#include <span>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// Corners of the window, in the order in which they are tried.
enum class Corner : std::uint8_t { kBottomLeft, kTopLeft, kBottomRight, kTopRight };

struct Minimap {
  Rect box;     // empty: the whole is visible, or there is no room
  Point whole;  // size of the whole, as drawn
  Corner corner = Corner::kBottomLeft;

  // Chooses the first corner where the map covers none of `marks`; `corner` is tried first, so that
  // the map stays where it is as long as it can. If every corner covers one, there is no map.
  // `held`: takes `corner`, whatever is there.
  static Minimap fit(Rect window, Point whole, Point drawn, float em,
                     std::span<const Rect> marks = {}, Corner corner = Corner::kBottomLeft,
                     bool held = false);
  bool shown() const { return box.w > 0; }
  // The part of the box that the window shows.
  Rect seen(Rect window, Point drawn) const;
  // The `drawn` that brings the place under `mouse` to the middle of the window.
  Point drawn_for(Rect window, Point mouse) const;
};

}  // namespace triescope::viz
