// RestingMouse: whether the mouse has lain still since a key was pressed. Whoever steps with keys looks at
// the picture: a tooltip of what happens to lie under the mouse would only cover it. Pure, but for the two
// functions at the end, which keep one with Dear ImGui's context.
#pragma once

#include <imgui.h>

namespace triescope::app {

class RestingMouse {
 public:
  // Once a frame: a key other than Shift, Ctrl, Alt was pressed; the mouse was moved, pressed or rolled.
  void see(bool key, bool mouse) { silent_ = !mouse && (silent_ || key); }
  bool silent() const { return silent_; }

 private:
  bool silent_ = false;
};

// After ImGui::NewFrame(): what came since the last frame.
void see_inputs(RestingMouse& mouse);
// No tooltip is to be shown where the mouse lies. What has the keyboard's focus shows its own all the
// same.
bool tooltips_wait();

}  // namespace triescope::app
