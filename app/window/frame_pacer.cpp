#include "app/window/frame_pacer.h"

#include <algorithm>

namespace triescope::app {

void FramePacer::drew(double now, double cost, double least) {
  next_ = now + std::max(least, cost * (1 / kShare - 1));
}

double FramePacer::seconds_left(double now) const { return std::max(0.0, next_ - now); }

}  // namespace triescope::app
