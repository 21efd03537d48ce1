#include "viz/layouts/zoom.h"

#include <algorithm>
#include <cmath>

namespace triescope::viz {

double zoom_factor(double notches, bool key_in, bool key_out, const ZoomSpeed& speed) {
  return std::pow(speed.notch, notches) * (key_in ? speed.key_in : 1) *
         (key_out ? speed.key_out : 1);
}

float scroll_limit(float length, float room) { return std::max(0.0f, length - room); }

float scroll_within(float scroll, float length, float room) {
  return std::clamp(scroll, 0.0f, scroll_limit(length, room));
}

float scroll_about(float scroll, float at, float ratio) { return (scroll + at) * ratio - at; }

double low_about(double low, double at, double ratio) { return at - (at - low) * ratio; }

double low_within(double low, double span, double first, double last) {
  return std::clamp(low, first, std::max(first, last - span));
}

float enlarged(Point room, Point whole, float most) {
  constexpr float kSteps = 8;
  const float fits = std::min(room.x / std::max(1.0f, whole.x), room.y / std::max(1.0f, whole.y));
  return std::clamp(std::floor(fits * kSteps) / kSteps, 1.0f, most);
}

float maximised(Point room, float em) {
  constexpr Point kMadeForEm = {56, 30};  // the size for which a panel is laid out
  return enlarged(room, {em * kMadeForEm.x, em * kMadeForEm.y}, 1.5f);
}

}  // namespace triescope::viz
