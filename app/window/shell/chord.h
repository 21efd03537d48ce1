// Chord: a key with modifiers, in GLFW's numbers (Dear ImGui before 1.87 has no names for function
// keys).
#pragma once

#include <string>

namespace triescope::app {

struct Chord {
  int key = 0;   // GLFW_KEY_*; 0 = none
  int mods = 0;  // GLFW_MOD_* (shift, control, alt)
  bool operator==(const Chord&) const = default;
};

// These convert "Ctrl+Shift+P" both ways. Error{kInvalidArgument}: says what is not a key.
std::string to_string(Chord chord);
Chord chord_from_string(const std::string& text);

}  // namespace triescope::app
