// The zoom that a frame's input asks for: the wheel over the panel, W and S anywhere.
#pragma once

#include "viz/draw/scene.h"
#include "viz/layouts/zoom.h"

namespace triescope::viz {

inline double zoom_of(const Input& in, const ZoomSpeed& speed = {}) {
  const double notches = in.inside ? static_cast<double>(in.wheel) : 0;
  return zoom_factor(notches, in.zoom_in, in.zoom_out, speed);
}

}  // namespace triescope::viz
