// The window: GLFW, OpenGL 3.3 and Dear ImGui around a Workspace. An idle window costs nothing: it
// waits for events and wakes on input, on a new snapshot of the session thread, or while an
// animation runs.
#pragma once

#include <string>
#include <vector>

#include "app/session/request.h"

namespace triescope::app {

struct WindowOptions {
  std::vector<std::string> captures;      // opened at start; two are compared
  RunRequest request;                     // what the command line gave
  bool has_request = false;               // false: the remembered one stays
  bool has_prompt = false;                // false and none remembered: a sample
  std::string script, screenshot, state;  // files; "" = none
  int width = 0, height = 0;              // px; 0 = as it was left, 1280x720 with a script
  float scale = 0;                        // 0 = the remembered one
  bool animate = true;
  std::string layout;    // its name; "" = the remembered one
  std::string open;      // a place in the capture, "step/12/node/57"; "" = where it opens
  bool lecture = false;  // begins in lecture mode, at the start of the capture
};

// Runs until the window is closed. Returns the exit code. Errors: kIoError (no display, no
// OpenGL 3.3: says what to do instead), those of Script.
int run_window(const WindowOptions& options);

}  // namespace triescope::app
