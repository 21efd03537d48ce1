// FramePacer: spaces the frames of a window while a run decodes by itself. Without a GPU drawing takes the
// cores that decode, and the times that are measured would be the window's. Time is a steady clock's, in
// seconds.
#pragma once

namespace triescope::app {

class FramePacer {
 public:
  // Of the time from frame to frame, at most this share is drawn.
  static constexpr double kShare = 0.1;

  // A frame that took `cost` of all cores has ended; the next one comes `least` seconds later or more.
  void drew(double now, double cost, double least = 0);
  // Until the next frame; 0 = it may come.
  double seconds_left(double now) const;

 private:
  double next_ = 0;
};

}  // namespace triescope::app
