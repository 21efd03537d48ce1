// Commands about how things look, and those that act on a panel; for the command table.
#pragma once

#include "app/window/command_parts.h"

namespace triescope::app {

Commands view_commands(Workspace& workspace, UiState& ui);
// Keys that act on a panel: the one under the mouse; from a menu, the palette or a script the one it
// was over last.
Commands panel_commands(Workspace& workspace, UiState& ui);

}  // namespace triescope::app
