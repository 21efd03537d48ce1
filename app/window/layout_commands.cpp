#include <cctype>

#include "app/window/command_parts.h"

namespace triescope::app {

Commands layout_commands(Workspace& w, UiState& ui) {
  constexpr int kKeys = 9;  // Ctrl+1 to Ctrl+9
  Commands rows;
  int next_key = 1;
  for (const std::string& name : w.layouts.names()) {
    std::string title = "Layout: " + name;
    const bool preset = rows.size() < preset_names().size();
    if (preset) title[8] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[8])));
    std::vector<Chord> keys;
    // "learn" has no key: one begins there, and the keys are for layouts that one switches between.
    if (name != "learn" && next_key <= kKeys)
      keys.push_back(chord_from_string("Ctrl+" + std::to_string(next_key++)));
    rows.push_back(
        {.id = "layout-" + name,
         .title = title,
         .menu = "View",
         .chords = std::move(keys),
         .run = [&w, name] { w.go_to_layout(name); },
         .checked = [&w, name] { return w.layouts.name == name; },
         .help = "With the tabs that were in front when it was left; once more: as it was made."});
  }
  rows.push_back({.id = "layouts",
                  .title = "Save layout, choose layout…",
                  .menu = "View",
                  .chords = chords({"Ctrl+L"}),
                  .run = opens(ui, Dialog::kLayouts)});
  rows.push_back(
      {.id = "undock",
       .title = "Panel under the mouse into a window of its own",
       .menu = "View",
       .chords = chords({"Ctrl+U"}),
       .run =
           [&w, &ui] {
             ui.undock = ui.hovered_panel.empty() ? ui.last_panel : ui.hovered_panel;
             if (ui.undock.empty())
               w.say(LogLevel::kInfo,
                     "put the mouse over a panel and press Ctrl+U, or drag its tab");
           },
       .enabled = has_document(w),
       .help = "Or drag its tab out of the panes. Closing that window brings the panel back."});
  return rows;
}

}  // namespace triescope::app
