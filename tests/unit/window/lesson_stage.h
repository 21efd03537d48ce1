// A lesson without a window: its commands are run as the window runs them.
#pragma once

#include <string>

#include "app/window/commands.h"
#include "app/window/script_verbs.h"

namespace triescope::test {

struct LessonStage {
  app::Workspace workspace{app::Preferences{}, [] {}};
  app::UiState ui;
  app::CommandTable commands{workspace, ui};
  app::LessonPlayer& lesson = workspace.lesson;

  // Runs the lesson's commands and returns them, one a line.
  std::string play() {
    app::ScriptHost host{workspace, ui, commands, {}, {}, {}};
    std::string said;
    for (const app::ScriptCommand& command : lesson.take_commands()) {
      app::run_command(command, host);
      said += command.verb + " " + command.argument + "\n";
    }
    return said;
  }
};

}  // namespace triescope::test
