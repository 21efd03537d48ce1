// Runs the commands of scripts: every command of the command table by its id, and verbs with
// arguments (docs/script.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/window/commands.h"
#include "app/window/workspace/script_command.h"

namespace triescope::app {

struct ScriptHost {
  Workspace& workspace;
  UiState& ui;
  const CommandTable& commands;
  std::function<void(const std::string& path)> screenshot;
  std::function<void(const std::string& path)> write_state;
  std::function<void(int width, int height)> resize;
  double seconds = 0;         // steady clock
  double waiting_since = -1;  // when the current wait line began; negative = none
};

std::vector<std::string> script_verbs();
// REQUIRES: a verb, or a command's id. Error{kInvalidArgument}: what was expected and found.
void run_command(const ScriptCommand& command, ScriptHost& host);
// Error{kInvalidArgument}: not a whole number.
long long script_number(const std::string& text);

}  // namespace triescope::app
