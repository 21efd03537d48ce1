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
  // After layouts were saved or forgotten: each has a command. Between frames; commands move.
  void update(Workspace& workspace, UiState& ui);
  // In lecture mode: its own keys, then those of the window's that work there.
  const Command* find_in_lecture(Chord chord) const;

 private:
  std::vector<std::string> own_layouts_;
};

}  // namespace triescope::app
