// The menu bar, built from the command table.
#include "app/window/ui_frame.h"
#include "app/window/workspace/document_names.h"

namespace triescope::app {
namespace {

void draw_recent_menu(Ui& ui, const char* title, const std::vector<RecentCapture>& recent,
                      bool by_path) {
  if (recent.empty() || !ImGui::BeginMenu(title)) return;
  // The list is copied, because opening an entry reorders it.
  for (const RecentCapture& one : std::vector<RecentCapture>(recent)) {
    const std::string label = (by_path ? one.path : recent_name(one)) + "###" + one.path;
    if (ImGui::MenuItem(label.c_str(),
                        (one.method + (one.recorded.empty() ? "" : "  ") + one.recorded).c_str()))
      ui.workspace.documents.open(one.path);
  }
  ImGui::EndMenu();
}

}  // namespace

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
      if (command.id == "open") {
        draw_recent_menu(ui, "Recent runs", ui.workspace.preferences.recent_runs, false);
        draw_recent_menu(ui, "Open recent", ui.workspace.preferences.recent_captures, true);
      }
    }
    ImGui::EndMenu();
  }
  ImGui::EndMenuBar();
}

}  // namespace triescope::app
