// Zooming and scrolling: the arithmetic that every zoomable panel shares. What is under the pointer
// stays there, and nothing scrolls past its content. Pure geometry.
#pragma once

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// How much one notch of the wheel, or one frame of the key, enlarges a picture.
struct ZoomSpeed {
  double notch = 1.15;
  double key_in = 1.25, key_out = 0.8;
};
// The factor that a frame's input asks for; 1 = none. `notches` > 0 zooms in.
double zoom_factor(double notches, bool key_in, bool key_out, const ZoomSpeed& speed = {});

// How far content of `length` px in a window of `room` px can be scrolled; 0 if it fits.
float scroll_limit(float length, float room);
// `scroll` limited to [0, scroll_limit].
float scroll_within(float scroll, float length, float room);
// The scroll that keeps the content under `at` (px from the window's edge) in place when the
// content grows to `ratio` times its length.
float scroll_about(float scroll, float at, float ratio);

// The same for an axis that shows [low, low + span) of its values: the new `low` that keeps the
// value `at` in place when the span becomes `ratio` times as long.
double low_about(double low, double at, double ratio);
// `low` moved so that [low, low + span) is inside [first, last]; a longer span begins at `first`.
double low_within(double low, double span, double first, double last);

// How much larger a picture that needs `whole` px can be drawn in `room` px: 1 to `most`, in steps
// of an eighth.
float enlarged(Point room, Point whole, float most = 2);

// How much larger the letters of a maximised panel are than elsewhere: 1 to 1.5, depending on its
// area alone, so that letters keep their size from one panel to the next.
float maximised(Point room, float em);

}  // namespace triescope::viz
