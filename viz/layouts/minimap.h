// Minimap: a small picture of something larger than its window, with the window on it. Pure geometry,
// in px of the canvas; `drawn` is where the whole begins, from the top left of its window.
#pragma once

#include "viz/canvas/canvas.h"

namespace triescope::viz {

struct Minimap {
  Rect box;     // empty: the whole is in sight, or there is no room
  Point whole;  // size of the whole, as drawn

  static Minimap fit(Rect window, Point whole, Point drawn, float em);
  bool shown() const { return box.w > 0; }
  // The part of the box that the window shows.
  Rect seen(Rect window, Point drawn) const;
  // `drawn` with the place under `mouse` in the middle of the window.
  Point drawn_for(Rect window, Point mouse) const;
};

}  // namespace triescope::viz
