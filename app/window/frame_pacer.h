// FramePacer: spaces a window's frames while a run decodes by itself. Without a GPU, drawing takes
// the cores that decode, and measured times would be the window's. Times are a steady clock's, in
// seconds.
#pragma once

namespace triescope::app {

class FramePacer {
 public:
  // Drawing takes at most this share of the time from frame to frame.
  static constexpr double kShare = 0.1;

  // Ends a frame that took `cost` seconds of all cores. The next one comes `least` seconds later or
  // more.
  void drew(double now, double cost, double least = 0);
  // Seconds until the next frame; 0 = it may come.
  double seconds_left(double now) const;

 private:
  double next_ = 0;
};

}  // namespace triescope::app
