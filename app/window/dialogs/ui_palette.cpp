// The palette, which runs commands, and the list of their keys.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <functional>

#include "app/window/dialogs/command_lists.h"
#include "app/window/dialogs/ui_dialogs.h"
#include "app/window/shell/search_rank.h"

namespace triescope::app {

namespace {

// An entry of the palette: a command, or a panel to bring to the front.
struct Row {
  std::string title, chord;
  bool enabled = true;
  std::function<void()> run;
};

std::vector<Row> rows_for(Ui& ui, const std::string& query) {
  std::vector<Row> rows;
  for (const Command* const command : palette_commands(ui.commands, query))
    rows.push_back({command->title,
                    command->chords.empty() ? "" : to_string(command->chords.front()),
                    command->is_enabled(), command->run});
  if (!ui.workspace.active()) return rows;
  for (const auto& panel : ui.workspace.active()->panels) {
    const viz::PanelInfo& info = panel->info();
    const std::string title = "Panel: " + info.title;
    if (!search_rank(query, title)) continue;
    rows.push_back({title, "", true, [&ui, name = info.name] { ui.workspace.go_to_panel(name); }});
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
  const bool enter = ImGui::InputTextWithHint(
      "##query", "a command or a panel, or a word for it: export, html, shortcuts", &query,
      ImGuiInputTextFlags_EnterReturnsTrue);
  if (ImGui::IsItemEdited()) selected = 0;
  const std::vector<Row> matches = rows_for(ui, query);
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
  std::string& query = ui.state.dialogs.keys_query;
  if (ui.state.dialog_just_opened) {
    query.clear();
    ImGui::SetKeyboardFocusHere();
  }
  ImGui::SetNextItemWidth(-FLT_MIN);
  ImGui::InputTextWithHint("##query", "a key, or a word of what it does", &query);
  ImGui::BeginChild("keys", ImVec2(0, 0), ImGuiChildFlags_NavFlattened);
  const auto groups = key_groups(ui.commands, ui.workspace.lecture.is_on(), query);
  if (groups.empty()) ImGui::TextDisabled("No key, and nothing that one does, has this in it.");
  for (const KeyGroup& group : groups) {
    ImGui::SeparatorText(group.title.c_str());
    if (!ImGui::BeginTable(group.title.c_str(), 2, ImGuiTableFlags_RowBg)) continue;
    ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, ui.em * 18);
    ImGui::TableSetupColumn("what");
    for (const KeyRow& row : group.rows) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(row.keys.c_str());
      ImGui::TableNextColumn();
      ImGui::PushTextWrapPos(0);
      ImGui::TextUnformatted(row.what.c_str());
      ImGui::PopTextWrapPos();
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
  return false;
}

}  // namespace triescope::app
