// The command table: one list that feeds menu, keys, palette and scripts.
#pragma once

#include <string>
#include <vector>

#include "app/window/shell/command.h"
#include "app/window/shell/ui_state.h"
#include "app/window/workspace/workspace.h"

namespace triescope::app {

class CommandTable : public CommandList {
 public:
  CommandTable(Workspace& workspace, UiState& ui);
  // Renews the commands of layouts after one was saved or forgotten. Call it between frames: it
  // moves the commands.
  void update(Workspace& workspace, UiState& ui);
  // Finds lecture mode's own keys first, then those of the window that work there.
  const Command* find_in_lecture(Chord chord) const;

 private:
  std::vector<std::string> own_layouts_;
};

}  // namespace triescope::app
