// Keys faster than frames. Dear ImGui takes in one change of each key a frame: of "Ctrl down, A down,
// Ctrl up, A up" that came between two frames, the first frame sees A pressed and Ctrl released, and
// a text field that looks for Ctrl+A finds A. Not thread-safe; the current context's queue.
#pragma once

#include <imgui.h>
#include <imgui_internal.h>

namespace triescope::app {

// Holds back what would change a modifier in the same frame as a key before it was pressed, from its
// construction until release(): construct it before ImGui::NewFrame(), release it after.
class FastKeys {
 public:
  FastKeys();
  void release();

 private:
  ImVector<ImGuiInputEvent> held_;
};

}  // namespace triescope::app
