// Transport: forwards and back through a run, by step and by phase: in the past through what is
// recorded, at the newest step of a live run by decoding on. Playback, and where breakpoints stop it.
// Window thread only.
#pragma once

#include <string>
#include <vector>

#include "app/window/workspace/live_run.h"

namespace triescope::app {

// Of playback, slowest first: 0.25 to 8.
const std::vector<double>& play_speeds();
std::string play_speed_text(double speed);  // "0.25×"

class Transport {
 public:
  Transport(Documents& documents, Comparison& comparison, LiveRun& run, Preferences& preferences,
            Messages& log)
      : documents_(documents),
        comparison_(comparison),
        run_(run),
        preferences_(preferences),
        log_(log) {}

  void step();  // in the past: forward in the capture; at the end of a live run: the decoder
  void step_phase();
  bool can_step() const;  // there is a next step to show or to decode, or a run to start
  void back();
  void back_phase();
  void go_to_start() { documents_.set_cursor(0); }
  void toggle_run();  // decoder run / pause; replay play / pause
  // The same run (settings, seed, prompt) decoded again, up to the cursor, into a capture of its
  // own; the old one stays open. At the end of a live run: a step.
  void run_to_cursor();
  bool can_run_to_cursor() const;
  // The run shown once more from its beginning, with its own settings, in a capture of its own; a capture
  // that was not started here goes back to its start.
  void restart();

  // --- playback ---
  // Shows the next step where it is time for it; true while the active capture plays. `seconds`: a steady
  // clock.
  bool play(double seconds);
  // When it wants to be looked at again; negative = never.
  double seconds_to_next_play(double seconds) const;
  // As a multiple of its own pace; one of play_speeds(). Another one: the nearest of them.
  void set_play_speed(double speed);
  void change_play_speed(int direction);  // +1: the next faster one

  // --- breakpoints ---
  // The next step that is recorded where a breakpoint would stop the run, or the one before: +1, -1.
  // Goes there, or says that there is none.
  void go_to_match(int direction);
  // What holds the run that is shown: a breakpoint in the live run, or in playback at the cursor; or
  // that memory was refused. "" = nothing.
  std::string stop_reason() const;
  // What the timeline of `document` marks: where it stopped, and the steps it will stop at.
  std::vector<viz::BreakMark> break_marks(const Document& document) const;

 private:
  enum class By : std::uint8_t { kStep, kPhase };
  void forward(By by);
  void backward(By by);
  void show_stop(Document& document, const BreakStop& stop);

  Documents& documents_;
  Comparison& comparison_;
  LiveRun& run_;
  Preferences& preferences_;
  Messages& log_;
};

}  // namespace triescope::app
