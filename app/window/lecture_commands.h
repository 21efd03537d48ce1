// Commands of lecture mode, for the command table, and the keys that work in it.
#pragma once

#include "app/window/commands.h"

namespace triescope::app {

std::vector<Command> lecture_commands(Workspace& workspace, UiState& ui);
// Whether a command of the window keeps its keys in lecture mode. The others would show what does not belong
// to a lecture, and clickers send F5 and Esc to begin and end one.
bool has_keys_in_lecture(const Command& command);

}  // namespace triescope::app
