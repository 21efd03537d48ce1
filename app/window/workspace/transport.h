// Transport: moves forwards and back through a run, by step and by phase. It shows what is
// recorded, and at the newest step of a live run it decodes on. It also plays back, and breakpoints
// stop it. Window thread only.
#pragma once

#include <string>
#include <vector>

#include "app/window/workspace/live_run.h"

namespace triescope::app {

// Speeds of playback, slowest first: 0.25 to 8.
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

  void step();  // forward in the capture, or at the end of a live run one step of the decoder
  void step_phase();
  bool can_step() const;  // there is a next step to show or to decode, or a run to start
  void back();
  void back_phase();
  void go_to_start() { documents_.set_cursor(0); }
  void toggle_run();  // decoder run / pause; replay play / pause
  // Decodes the same run again (settings, seed, prompt), up to the cursor, into a capture of its
  // own; the old one stays open. At the end of a live run it decodes a step.
  void run_to_cursor();
  bool can_run_to_cursor() const;
  // Decodes the run again from its beginning, with its own settings, into a capture of its own. A
  // capture that was not started here goes back to its start.
  void restart();

  // --- playback ---
  // Shows the next step when its time has come. True while the active capture plays. `seconds` is a
  // steady clock.
  bool play(double seconds);
  // Seconds until play() is to be called again; negative = never.
  double seconds_to_next_play(double seconds) const;
  // Sets the nearest of play_speeds(), as a multiple of the normal pace.
  void set_play_speed(double speed);
  void change_play_speed(int direction);  // +1: the next faster one

  // --- breakpoints ---
  // Goes to the next (+1) or the previous (-1) recorded step where a breakpoint would stop the run,
  // or says that there is none.
  void go_to_match(int direction);
  // The reason why the run that is shown stands still: a breakpoint in the live run, or in playback at the cursor,
  // or refused memory. "" = nothing.
  std::string stop_reason() const;
  // The marks of the timeline of `document`: where it stopped, and the steps where it will stop.
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
