// RestingMouse: whether the mouse has lain still since a key was pressed. Somebody who steps with
// keys looks at the picture, and a tooltip for whatever lies under the mouse would cover it. Pure,
// except for the two functions at the end, which keep one with Dear ImGui's context.
#pragma once

#include <imgui.h>

namespace triescope::app {

class RestingMouse {
 public:
  // Called once a frame. `key`: a key other than Shift, Ctrl or Alt was pressed. `mouse`: the mouse
  // was moved, pressed or rolled.
  void see(bool key, bool mouse) { silent_ = !mouse && (silent_ || key); }
  bool silent() const { return silent_; }

 private:
  bool silent_ = false;
};

// Takes in the inputs since the last frame. Call it after ImGui::NewFrame().
void see_inputs(RestingMouse& mouse);
// True if no tooltip is to be shown at the mouse. The focused item still shows its own.
bool tooltips_wait();

}  // namespace triescope::app
