// Zooming and scrolling: the arithmetic that every zoomable panel shares. What lies under the
// pointer stays there, and nothing scrolls past what there is to see. Pure geometry.
#pragma once

#include "viz/canvas/canvas.h"

namespace triescope::viz {

// How much larger one notch of the wheel, or one frame of the key, makes a picture.
struct ZoomSpeed {
  double notch = 1.15;
  double key_in = 1.25, key_out = 0.8;
};
// The factor that a frame's input asks for; 1 = none. `notches` > 0 zooms in.
double zoom_factor(double notches, bool key_in, bool key_out, const ZoomSpeed& speed = {});

// Content of `length` px in a window of `room` px: how far it can be scrolled, 0 where it fits.
float scroll_limit(float length, float room);
// `scroll` brought into [0, scroll_limit].
float scroll_within(float scroll, float length, float room);
// The scroll at which the content under `at` (px from the window's edge) stays there when the
// content grows to `ratio` times its length.
float scroll_about(float scroll, float at, float ratio);

// The same for an axis that shows [low, low + span) of its values: the new `low` at which the value
// `at` keeps its place when the span becomes `ratio` times as long.
double low_about(double low, double at, double ratio);
// `low` moved so that [low, low + span) lies within [first, last]; a longer span begins at `first`.
double low_within(double low, double span, double first, double last);

// How much larger, 1 to `most` in steps of an eighth, a picture that takes `whole` px can be drawn in
// `room` px.
float enlarged(Point room, Point whole, float most = 2);

// How much larger than elsewhere the letters of a maximised panel are, 1 to 1.5: by its area alone, so that going
// from one panel to the next changes no letter.
float maximised(Point room, float em);

}  // namespace triescope::viz
