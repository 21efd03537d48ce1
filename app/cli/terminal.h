// Terminal: progress lines, interruption and checked output for the headless commands.
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

// Readies standard output; output that could not be written is then an error, in one place for all
// commands. Must be called first. A closed pipe then refuses output, where a signal would end the program
// without a message. Descriptors that the caller closed are taken, so that no file of ours gets one
// of their numbers and is printed into.
void prepare_standard_output();

// Writes what is still buffered. Error{kIoError}: that, or earlier output, could not be written.
void flush_standard_output();

}  // namespace triescope::app
