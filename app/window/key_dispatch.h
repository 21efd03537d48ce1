// Keys of the window: each becomes a command, or belongs to a text field, a dialog, or the walk.
#pragma once

#include <vector>

#include "app/window/commands.h"
#include "app/window/shell/ui.h"

namespace triescope::app {

// As GLFW tells it.
struct KeyPress {
  int key, mods;
};

// Commands run; Tab begins a walk; Escape ends one thing at a time, the innermost first. A text
// field gets everything but the function keys and Ctrl combinations that edit no text.
void dispatch_keys(const std::vector<KeyPress>& keys, const CommandTable& commands, Ui& ui);

}  // namespace triescope::app
