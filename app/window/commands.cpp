#include "app/window/commands.h"

#include <algorithm>

#include "app/window/command_parts.h"

namespace triescope::app {
namespace {

Commands help_commands(UiState& ui) {
  return {
      {.id = "palette",
       .title = "All commands…",
       .menu = "Help",
       .chords = chords({"Ctrl+Shift+P"}),
       .run = opens(ui, Dialog::kPalette)},
      {.id = "keys",
       .title = "Keys…",
       .menu = "Help",
       .chords = chords({"Shift+/", "F1"}),
       .run = opens(ui, Dialog::kKeys),
       .keywords = "shortcuts keyboard help bindings"},
      {.id = "glossary",
       .title = "Glossary…",
       .menu = "Help",
       .chords = chords({"Shift+F1"}),
       .run = opens(ui, Dialog::kGlossary),
       .help =
           "What every term of panels, legends and column heads means; with the mouse over one, "
           "that one.",
       .keywords = "terms words definitions help meaning explain"},
      {.id = "about",
       .title = "About triescope…",
       .menu = "Help",
       .run = opens(ui, Dialog::kAbout),
       .keywords = "version licence"},
  };
}

}  // namespace

CommandTable::CommandTable(Workspace& w, UiState& ui) { update(w, ui); }

void CommandTable::update(Workspace& w, UiState& ui) {
  if (!commands_.empty() && own_layouts_ == w.layouts.own_names()) return;
  own_layouts_ = w.layouts.own_names();
  commands_.clear();
  for (const Commands& group :
       {file_commands(w, ui), run_commands(w, ui), breakpoint_commands(ui), play_speed_commands(w),
        go_commands(w, ui), layout_commands(w, ui), compare_commands(w, ui), view_commands(w, ui),
        panel_commands(w, ui), help_commands(ui), lesson_commands(w, ui), lecture_commands(w, ui)})
    commands_.insert(commands_.end(), group.begin(), group.end());
}

const Command* CommandTable::find_in_lecture(Chord chord) const {
  for (const Command& command : commands_)
    if (std::ranges::count(command.lecture_chords, chord) > 0) return &command;
  const Command* const command = find(chord);
  return command && has_keys_in_lecture(*command) ? command : nullptr;
}

}  // namespace triescope::app
