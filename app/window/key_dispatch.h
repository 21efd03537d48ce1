// Hands each key to a command, a text field, a dialog or the keyboard walk.
#pragma once

#include <vector>

#include "app/window/commands.h"
#include "app/window/shell/ui.h"

namespace triescope::app {

// As GLFW reports it.
struct KeyPress {
  int key, mods;
};

// Runs commands. Tab begins a walk; Escape ends one thing at a time, the innermost first. A text
// field gets every key except function keys and those Ctrl combinations that edit no text.
void dispatch_keys(const std::vector<KeyPress>& keys, const CommandTable& commands, Ui& ui);

}  // namespace triescope::app
