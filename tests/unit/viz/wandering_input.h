// The i-th frame of a mouse that wanders over a panel, with all its keys; the same every time.
#pragma once

#include "viz/draw/scene.h"

namespace triescope::test {

inline viz::Input wandering_input(int i, viz::Rect area) {
  viz::Input in;
  in.inside = i % 7 != 6;
  in.mouse = {area.x + static_cast<float>(i * 37 % static_cast<int>(area.w)),
              area.y + static_cast<float>(i * 53 % static_cast<int>(area.h))};
  in.pressed = in.mouse;
  in.wheel = i % 5 == 0 ? (i % 10 ? 1.0f : -1.0f) : 0;
  in.wheel_x = i % 31 == 0 ? 1.0f : 0;
  in.clicked = i % 3 == 0;
  in.double_clicked = i % 11 == 0;
  in.dragging = i % 4 == 1;
  in.drag_delta = {static_cast<float>(i % 9 - 4) * 6, static_cast<float>(i % 5 - 2) * 5};
  in.released = i % 4 == 2;
  in.shift = i % 8 == 1;
  in.zoom_in = i % 13 == 0;
  in.zoom_out = i % 17 == 0;
  in.pan_left = i % 41 == 0;
  in.pan_right = i % 43 == 0;
  in.fit = i % 29 == 0;
  in.previous = i % 19 == 0;
  in.next = i % 23 == 0;
  return in;
}

}  // namespace triescope::test
