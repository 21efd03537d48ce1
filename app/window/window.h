// The window: GLFW, OpenGL 3.3 and Dear ImGui around a Workspace. An idle window costs nothing: it
// waits for events, and wakes on input, on a new snapshot of the session thread, or while an
// animation runs.
#pragma once

#include <string>
#include <vector>

#include "app/remote/dial.h"
#include "app/session/request.h"

namespace triescope::app {

struct WindowOptions {
  std::vector<std::string> captures;      // opened at start; two are shown side by side
  RunRequest request;                     // from the command line
  bool has_request = false;               // false: the remembered request stays
  bool has_prompt = false;                // false, and no prompt remembered: a sample
  std::string script, screenshot, state;  // files; "" = none
  int width = 0, height = 0;              // px; 0 = the last size, or 1280x720 with a script
  float scale = 0;                        // 0 = the remembered one
  bool animate = true;
  std::string layout;    // a layout's name; "" = the remembered one
  std::string open;      // a place in the capture, "step/12/node/57"; "" = the default place
  RemotePlace remote;    // a machine that decodes; not named = this one
  bool lecture = false;  // starts in lecture mode, at the beginning of the capture
};

// Runs until the window is closed. Returns the exit code. Errors: kIoError (no display, no
// OpenGL 3.3: says what to do instead), those of Script.
int run_window(const WindowOptions& options);

}  // namespace triescope::app
