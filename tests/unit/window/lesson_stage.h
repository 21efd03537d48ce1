// A lesson without a window: what it asks for is run as the window does.
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

  // Runs what the lesson asks for; returns it, a line each.
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
