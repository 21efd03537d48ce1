// The menu bar, built from the command table.
#include "app/window/ui_parts.h"

namespace triescope::app {

void draw_menu(Ui& ui) {
  if (!ImGui::BeginMenuBar()) return;
  for (const std::string& menu : menu_names()) {
    if (!ImGui::BeginMenu(menu.c_str())) continue;
    for (const Command& command : ui.commands.all()) {
      if (command.menu != menu) continue;
      if (command.separator_before) ImGui::Separator();
      const std::string chord = command.chords.empty() ? "" : to_string(command.chords.front());
      if (ImGui::MenuItem(command.title.c_str(), chord.c_str(),
                          command.checked && command.checked(), command.is_enabled()))
        command.run();
      if (!command.help.empty()) help_tooltip(command.help, ui.em);
      if (command.id == "open" && !ui.workspace.preferences.recent_captures.empty() &&
          ImGui::BeginMenu("Open recent")) {
        // A copy: opening one reorders the list.
        for (const RecentCapture& one :
             std::vector<RecentCapture>(ui.workspace.preferences.recent_captures))
          if (ImGui::MenuItem(
                  one.path.c_str(),
                  (one.method + (one.recorded.empty() ? "" : "  ") + one.recorded).c_str()))
            ui.workspace.open_capture(one.path);
        ImGui::EndMenu();
      }
    }
    ImGui::EndMenu();
  }
  ImGui::EndMenuBar();
}

}  // namespace triescope::app
