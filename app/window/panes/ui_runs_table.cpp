// The table of runs, in the panes' place: a row a run or a group.
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

void draw_header(Ui& ui, const std::vector<std::string>& columns) {
  RunsView& view = ui.workspace.runs;
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  ImGui::TableSetColumnIndex(0);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ImGui::TableSetColumnIndex(static_cast<int>(i) + 1);
    const std::string& name = columns[i];
    const char* const order = view.sort == name ? " ▲" : view.sort == "-" + name ? " ▼" : "";
    if (ImGui::Selectable((name + order + "###head-" + name).c_str())) view.sort_by(name);
    name_part(ui, "column " + name);
    help_tooltip("Sorts by it: the largest first, then the smallest.", ui.em);
  }
}

void draw_run(Ui& ui, std::size_t row) {
  RunsView& view = ui.workspace.runs;
  const StudyTable& table = view.table();
  ImGui::PushID(static_cast<int>(row));
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const bool chosen = view.is_chosen(row);
  if (ImGui::Selectable(
          chosen ? "✓" : " ", chosen,
          ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick)) {
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
      view.asks_to_open(row);
    else if (!view.is_group(row))
      view.choose(row, !chosen);
  }
  name_part(ui, "run " + std::to_string(row + 1));
  for (const std::string& column : table.columns) {
    ImGui::TableNextColumn();
    const std::string text = study_cell(table.rows[row], column, " ± ");
    if (is_study_number(table, column)) {
      const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
      ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room));
    }
    ImGui::TextUnformatted(text.c_str());
  }
  ImGui::PopID();
}

// Everything that is known of one run: a line a figure, what it means as a tooltip.
void draw_summary(Ui& ui, const StudyRow& row, float width) {
  ImGui::BeginChild("summary", ImVec2(width, 0), ImGuiChildFlags_NavFlattened);
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted("Summary");
  ImGui::PopFont();
  if (ImGui::BeginTable("figures", 2, ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY)) {
    ImGui::TableSetupColumn("figure", ImGuiTableColumnFlags_WidthStretch, 0.58f);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 0.42f);
    for (const std::string& column : ui.workspace.runs.known_columns()) {
      const std::string text = study_cell(row, column, "");
      if (text.empty()) continue;
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(middle_fitted(column, ImGui::GetContentRegionAvail().x).c_str());
      help_tooltip(study_meaning(column), ui.em);
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(middle_fitted(text, ImGui::GetContentRegionAvail().x).c_str());
      help_tooltip(text, ui.em);
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
}

// As wide as the head with its arrow and the widest of the first cells, within reason.
float column_width(const Ui& ui, const std::string& column) {
  constexpr std::size_t kMeasured = 100;
  const StudyTable& table = ui.workspace.runs.table();
  float width = ImGui::CalcTextSize((column + " ▼").c_str()).x;
  for (std::size_t row = 0; row < std::min(table.rows.size(), kMeasured); ++row) {
    const std::string cell = study_cell(table.rows[row], column, " ± ");
    width = std::max(width, ImGui::CalcTextSize(cell.c_str()).x);
  }
  return std::min(width + ui.em * 0.4f, ui.em * 26);
}

void draw_table(Ui& ui, float width) {
  const RunsView& view = ui.workspace.runs;
  const std::vector<std::string> columns = view.table().columns;
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerV;
  const int count = static_cast<int>(columns.size()) + 1;
  // Each choice of columns has widths of its own, which a person may change.
  std::string id = view.group_by + "|";
  for (const std::string& column : columns) id += column + ",";
  if (!ImGui::BeginTable(id.c_str(), count, kFlags, {width, ImGui::GetContentRegionAvail().y}))
    return;
  ImGui::TableSetupScrollFreeze(2, 1);
  ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, ui.em * 1.2f);
  // The width with which a column begins; later widths are ImGui's own.
  const bool is_new = ImGui::GetCurrentTable()->IsInitializing;
  for (const std::string& column : columns)
    ImGui::TableSetupColumn(column.c_str(), ImGuiTableColumnFlags_WidthFixed,
                            is_new ? column_width(ui, column) : 0);
  draw_header(ui, columns);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(view.table().rows.size()));
  while (clipper.Step())
    for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row)
      draw_run(ui, static_cast<std::size_t>(row));
  ImGui::EndTable();
}

}  // namespace

void draw_runs_table(Ui& ui, viz::Rect area) {
  RunsView& view = ui.workspace.runs;
  ImGui::SetCursorScreenPos(ImVec2(area.x, area.y));
  ImGui::BeginChild("runs", ImVec2(area.w, area.h), ImGuiChildFlags_NavFlattened);
  draw_runs_head(ui, area.w);
  if (view.sheet() == RunsSheet::kAcceptance) {
    draw_runs_acceptance(ui, area.w);
  } else if (view.table().rows.empty()) {
    ImGui::TextDisabled(view.runs() == 0 ? "No run yet." : "No run fulfils this.");
  } else if (view.sheet() == RunsSheet::kSideBySide) {
    draw_runs_beside(ui, area.w);
  } else {
    const StudyRow* const one = view.summary_row();
    const float summary = one ? std::min(ui.em * 24, area.w * 0.38f) : 0;
    draw_table(ui, area.w - (one ? summary + ui.em * 0.6f : 0));
    if (one) {
      ImGui::SameLine(0, ui.em * 0.6f);
      draw_summary(ui, *one, summary);
    }
  }
  ImGui::EndChild();
  view.open_asked();
}

}  // namespace triescope::app
