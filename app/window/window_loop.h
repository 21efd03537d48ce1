// The window from its first frame to its last: waits for something to do, takes in inputs and what
// other threads did, runs a script's lines, and draws. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/window/commands.h"
#include "app/window/display.h"
#include "app/window/frame_pacer.h"
#include "app/window/script.h"
#include "app/window/shell/ui.h"
#include "app/window/window.h"

namespace triescope::app {

// Takes the full screen when lecture mode begins, if it did the last time, and restores the window
// when it ends.
class LectureScreen {
 public:
  void update(const Workspace& workspace, UiState& state) {
    if (workspace.lecture.is_on() == was_on_) return;
    was_on_ = !was_on_;
    if (was_on_) before_ = state.fullscreen;
    state.fullscreen = was_on_ ? before_ || workspace.preferences.lecture_full_screen : before_;
  }

 private:
  bool was_on_ = false, before_ = false;
};

class WindowLoop {
 public:
  // Opens the window. No `decoder`: a thread of this process decodes. Errors: Display's and
  // Script's.
  WindowLoop(const WindowOptions& options, Preferences preferences,
             std::unique_ptr<RunHost> decoder);
  Workspace& workspace() { return workspace_; }
  // Draws until the window is closed or its script has ended.
  void run();

 private:
  static constexpr int kSettleFrames = 3;  // Dear ImGui needs a few frames to settle after an input

  // Seconds until a frame may be drawn, so that drawing does not take the cores that decode.
  double seconds_to_rest(double now) const;
  // Waits for something to do. True: an event ended the wait.
  bool wait();
  // Takes in inputs and what other threads did. False: the window rests.
  bool read_inputs(bool woken);
  // Runs the script's next line once the one before it is on the screen. False: it has ended.
  bool run_script();
  void choose_style();
  // Lays a frame out and draws it into the back buffer, unless it is on the screen already.
  void draw();
  // Puts the drawn frame on the screen and notes what it cost.
  void present();

  const bool scripted_;
  Display display_;
  Workspace workspace_;
  UiState state_;
  CommandTable commands_{workspace_, state_};
  Ui ui_{.workspace = workspace_, .state = state_, .commands = commands_};
  Script script_ = Script::empty();
  std::string pending_screenshot_;
  ScriptHost host_;
  FramePacer pacer_;
  LectureScreen lecture_screen_;
  std::optional<std::uint64_t> picture_;  // the frame on the screen (picture_hash)
  bool is_drawn_ = false;                 // this frame was drawn, so present() shows it
  std::int64_t frames_ = 0;               // laid out so far
  int frames_left_ = kSettleFrames;       // to be laid out before the window waits
  int frames_at_once_ = kSettleFrames;    // answer an input or a script, so they do not wait
  int quiet_frames_ = 0;      // laid out since the last script line; the next line waits for a few
  double drawn_second_ = -1;  // of the presenter view's clock
};

}  // namespace triescope::app
