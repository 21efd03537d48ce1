// Terminal: progress lines and interruption for the headless commands.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "core/base/log.h"

namespace triescope::app {

// A progress bar on stderr if that is a terminal; silent otherwise, or if quiet.
ProgressSink terminal_progress(bool quiet);
// "3 min 20 s", of seconds.
std::string time_left_text(double seconds);
// Erases the bar.
void clear_progress();

// While it lives, Ctrl+C calls `on_interrupt` (from another thread); a second Ctrl+C ends the
// program at once with 130. Make it before any other thread starts, because threads inherit the
// blocked signal.
class InterruptGuard {
 public:
  explicit InterruptGuard(std::function<void()> on_interrupt);
  ~InterruptGuard();
  bool interrupted() const;

 private:
  struct State;
  State* state_;
};

}  // namespace triescope::app
