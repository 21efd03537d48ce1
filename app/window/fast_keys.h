// Keys faster than frames. Dear ImGui takes in one change of each key a frame. If "Ctrl down, A
// down, Ctrl up, A up" comes between two frames, it sees A pressed and Ctrl released in the first
// one, and a text field that looks for Ctrl+A finds A. Not thread-safe: changes the current
// context's queue.
#pragma once

#include <imgui.h>
#include <imgui_internal.h>

namespace triescope::app {

// From construction to release(), holds back inputs from the first change of a modifier that
// follows a key's press. Construct it before ImGui::NewFrame() and release it after.
class FastKeys {
 public:
  FastKeys();
  void release();

 private:
  ImVector<ImGuiInputEvent> held_;
};

}  // namespace triescope::app
