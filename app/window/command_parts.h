// Helpers for rows of the command table, and the groups of commands that have a file of their own.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "app/window/commands.h"

namespace triescope::app {

using Commands = std::vector<Command>;

inline std::vector<Chord> chords(std::initializer_list<const char*> texts) {
  std::vector<Chord> result;
  for (const char* text : texts) result.push_back(chord_from_string(text));
  return result;
}

inline std::function<void()> opens(UiState& ui, Dialog dialog) {
  return [&ui, dialog] { ui.open(dialog); };
}

inline std::function<void()> finds(UiState& ui, FindBy by) {
  return [&ui, by] {
    ui.find.by = by;
    ui.find.open = ui.find.just_opened = true;
  };
}

inline std::function<bool()> has_document(const Workspace& w) {
  return [&w] { return w.active() != nullptr; };
}

// Groups of the table, each in the file of its name; a menu may show several.
Commands file_commands(Workspace& workspace, UiState& ui);
Commands run_commands(Workspace& workspace, UiState& ui);
Commands go_commands(Workspace& workspace, UiState& ui);
Commands layout_commands(Workspace& workspace, UiState& ui);
Commands compare_commands(Workspace& workspace, UiState& ui);
// A command for each kind of breakpoint adds one and opens the list at its field; only for palette
// and scripts.
Commands breakpoint_commands(UiState& ui);
// A command for each speed of playback, only for palette and scripts.
Commands play_speed_commands(Workspace& workspace);
Commands lecture_commands(Workspace& workspace, UiState& ui);
// Whether a command of the window keeps its keys in lecture mode. The others would show things that
// do not belong to a lecture, and clickers send F5 and Esc to begin and end one.
bool has_keys_in_lecture(const Command& command);
Commands lesson_commands(Workspace& workspace, UiState& ui);
Commands view_commands(Workspace& workspace, UiState& ui);  // colours, sizes, parts shown
// Keys that act on a panel: the one under the mouse. From a menu, the palette or a script they act
// on the panel that the mouse was over last.
Commands panel_commands(Workspace& workspace, UiState& ui);

}  // namespace triescope::app
