// The commands of lessons, for the command table.
#pragma once

#include <vector>

#include "app/window/commands.h"

namespace triescope::app {

std::vector<Command> lesson_commands(Workspace& workspace, UiState& ui);

}  // namespace triescope::app
