// ScriptCommand: one thing that the window is to do, by name: a command of the command table, or a
// verb with its argument (docs/script.md). Scripts consist of them, and a lesson hands them over.
#pragma once

#include <string>

namespace triescope::app {

struct ScriptCommand {
  std::string verb, argument = {};
};

}  // namespace triescope::app
