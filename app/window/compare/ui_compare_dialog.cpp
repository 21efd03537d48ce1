// The dialog that chooses the second of two runs.
#include <imgui.h>

#include <algorithm>

#include "app/window/compare/compare_rows.h"
#include "app/window/compare/ui_compare.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

// Lists the other open runs with one selected. True: it was chosen.
bool draw_compare_choice(Ui& ui) {
  int& selected = ui.state.dialogs.compare_selected;
  const std::vector<CompareRow> rows = compare_rows(ui.workspace);
  if (rows.empty()) {
    ImGui::TextDisabled("No other run is open: open a capture.");
    return false;
  }
  const int count = static_cast<int>(rows.size());
  if (ui.state.dialog_just_opened) {
    selected = count - 1;  // the newest, if none is beside this one
    for (int i = 0; i < count; ++i)
      if (rows[static_cast<std::size_t>(i)].document == ui.workspace.comparison.partner())
        selected = i;
  }
  // The path field has the keys while something is typed there, and a keyboard walk has them too.
  const bool typing = ImGui::GetIO().WantTextInput || ui.state.walk.has_focus();
  if (!typing && ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++selected;
  if (!typing && ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --selected;
  selected = std::clamp(selected, 0, count - 1);
  bool taken = !typing && !ui.state.dialog_just_opened &&
               (ImGui::IsKeyPressed(ImGuiKey_Enter, /*repeat=*/false) ||
                ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, /*repeat=*/false));
  const float line = ImGui::GetTextLineHeight(), row_height = 2 * line + ui.em * 0.5f;
  const auto shown = static_cast<float>(std::min(count, 4));
  ImGui::BeginChild("runs",
                    ImVec2(0, shown * (row_height + ImGui::GetStyle().ItemSpacing.y) + ui.em),
                    ImGuiChildFlags_Borders);
  for (int i = 0; i < count; ++i) {
    const CompareRow& row = rows[static_cast<std::size_t>(i)];
    ImGui::PushID(i);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    if (ImGui::Selectable("##run", i == selected, ImGuiSelectableFlags_NoAutoClosePopups,
                          ImVec2(0, row_height))) {
      selected = i;
      taken = true;
    }
    name_part(ui, "run " + std::to_string(i + 1));
    if (i == selected && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
    help_tooltip(row.document->path, ui.em);
    const ImVec2 end = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(ImVec2(at.x + ui.em * 0.3f, at.y + ui.em * 0.2f));
    ImGui::PushFont(ui.fonts.ui_bold, 0);
    ImGui::TextUnformatted(middle_fitted(row.title, width - ui.em * 0.6f).c_str());
    ImGui::PopFont();
    ImGui::SetCursorScreenPos(ImVec2(at.x + ui.em * 0.3f, at.y + ui.em * 0.2f + line));
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
    ImGui::TextUnformatted(middle_fitted(row.differs, width - ui.em * 0.6f).c_str());
    ImGui::PopStyleColor();
    ImGui::SetCursorScreenPos(end);
    ImGui::Dummy(ImVec2(0, 0));
    ImGui::PopID();
  }
  ImGui::EndChild();
  if (taken) ui.workspace.comparison.start(rows[static_cast<std::size_t>(selected)].document);
  return taken;
}

}  // namespace

bool draw_compare(Ui& ui) {
  FileBrowser& browser = ui.state.dialogs.compare_files;
  browser.extensions = {".tscap"};
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled("Choose an open run, or a capture file, to compare with this one.");
  ImGui::PopTextWrapPos();
  if (draw_compare_choice(ui)) return true;
  ImGui::Separator();
  bool open = browser.draw(ui.em * 10);
  ImGui::BeginDisabled(browser.path.empty());
  open |= ImGui::Button("Open and compare");
  ImGui::EndDisabled();
  if (!open) return false;
  Document* const here = ui.workspace.active();
  ui.workspace.documents.open(browser.path);
  Document* const opened = ui.workspace.active();
  if (opened == here) return true;  // it could not be opened; a message says why
  ui.workspace.documents.activate(here);
  ui.workspace.comparison.start(opened);
  return true;
}

}  // namespace triescope::app
