// The commands: the palette that runs them, and the list of their keys.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <functional>

#include "app/run/text_tools.h"
#include "app/window/ui_dialogs.h"

namespace triescope::app {

namespace {

// What the palette offers: a command, or a panel to bring to the front.
struct Row {
  std::string title, chord;
  bool enabled = true;
  std::function<void()> run;
};

std::vector<Row> rows_for(Ui& ui, const std::string& query) {
  std::vector<Row> rows;
  for (const Command& command : ui.commands.all()) {
    if (command.id == "palette" || lower(command.title).find(query) == std::string::npos) continue;
    rows.push_back({command.title, command.chords.empty() ? "" : to_string(command.chords.front()),
                    command.is_enabled(), command.run});
  }
  if (!ui.workspace.active()) return rows;
  for (const auto& panel : ui.workspace.active()->panels) {
    const viz::PanelInfo& info = panel->info();
    const std::string title = "Panel: " + info.title;
    if (lower(title).find(query) == std::string::npos) continue;
    rows.push_back({title, "", true, [&ui, name = info.name] {
                      // Of a maximised pane every panel is a tab.
                      if (!ui.workspace.maximised.empty())
                        ui.workspace.maximised = name;
                      else
                        ui.workspace.show_panel(name);
                    }});
  }
  return rows;
}

}  // namespace

bool draw_palette(Ui& ui) {
  auto& [query, selected] = ui.state.dialogs.palette;
  if (ui.state.dialog_just_opened) {
    query.clear();
    selected = 0;
    ImGui::SetKeyboardFocusHere();
  }
  ImGui::SetNextItemWidth(-FLT_MIN);
  const bool enter =
      ImGui::InputTextWithHint("##query", "type a part of a command's or panel's name", &query,
                               ImGuiInputTextFlags_EnterReturnsTrue);
  if (ImGui::IsItemEdited()) selected = 0;
  const std::vector<Row> matches = rows_for(ui, lower(query));
  const int count = static_cast<int>(matches.size());
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++selected;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --selected;
  selected = std::clamp(selected, 0, std::max(0, count - 1));
  const Row* chosen = enter && count > 0 ? &matches[static_cast<std::size_t>(selected)] : nullptr;
  ImGui::BeginChild("matches");
  const float room = ImGui::GetContentRegionAvail().x;
  for (int i = 0; i < count; ++i) {
    const Row& row = matches[static_cast<std::size_t>(i)];
    ImGui::BeginDisabled(!row.enabled);
    if (ImGui::Selectable(row.title.c_str(), i == selected)) chosen = &row;
    if (!row.chord.empty()) {
      ImGui::SameLine(room - ImGui::CalcTextSize(row.chord.c_str()).x - ui.em * 0.4f);
      ImGui::TextUnformatted(row.chord.c_str());
    }
    ImGui::EndDisabled();
  }
  ImGui::EndChild();
  if (!chosen || !chosen->enabled) return false;
  ui.state.dialog = Dialog::kNone;  // the command may open another
  chosen->run();
  return ui.state.dialog == Dialog::kNone;
}

bool draw_keys(Ui& ui) {
  ImGui::BeginChild("keys");
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_RowBg)) {
    ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, ui.em * 18);
    ImGui::TableSetupColumn("what");
    const auto row = [&](const std::string& keys, const std::string& what) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(keys.c_str());
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(what.c_str());
    };
    const auto rows = [&](std::vector<Chord> Command::*chords) {
      for (const Command& command : ui.commands.all()) {
        std::string keys;
        for (const Chord chord : command.*chords)
          keys += (keys.empty() ? "" : "   ") + to_string(chord);
        if (!keys.empty()) row(keys, command.title);
      }
    };
    // Where those of the lecture hold, they come first.
    if (ui.workspace.lecture.is_on()) rows(&Command::lecture_chords);
    rows(&Command::chords);
    row("wheel, drag", "zoom the panel under the mouse at the pointer, move its picture");
    row("click", "lock the focus on a node;  Esc clears it, and the range");
    row("Shift+drag on the timeline", "select a range of steps");
    row("drag a tab", "to another pane, to the edge of one, or out into a window of its own");
    if (!ui.workspace.lecture.is_on()) rows(&Command::lecture_chords);
    ImGui::EndTable();
  }
  ImGui::EndChild();
  return false;
}

}  // namespace triescope::app
