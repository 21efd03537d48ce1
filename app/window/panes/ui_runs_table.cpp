// The table of runs, in the panes' place: filter, groups and order above it, a row a run or a group.
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"
#include "core/base/counted.h"

namespace triescope::app {
namespace {

std::string title_of(const RunsView& view) {
  const std::string runs = counted(view.runs(), "run");
  if (view.folder().empty()) return "Open in this window: " + runs;
  const std::size_t failed = view.failed();
  return std::filesystem::path(view.folder()).filename().string() + ": " + runs +
         (failed ? ", " + std::to_string(failed) + " failed" : "");
}

// What the figure of a column is; "" = its name says it.
std::string meaning_of(const std::string& column) {
  for (const StudyMetric& metric : study_metrics())
    if (column == metric.name) return metric.meaning;
  return "";
}

void draw_runs_head(Ui& ui, float width) {
  RunsView& view = ui.workspace.runs;
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::AlignTextToFramePadding();
  text_fitted(title_of(view), width - ui.em * 12);
  ImGui::PopFont();
  ImGui::SameLine(width - ui.em * 4.5f);
  if (ImGui::Button("Close###close-runs")) view.close();
  name_part(ui, "close runs");
}

// Lists the names of columns; a click puts one behind what the field holds.
void draw_columns(Ui& ui, const char* id, std::string& field) {
  const std::string popup = std::string("columns of ") + id;
  ImGui::SameLine(0, ui.em * 0.2f);
  if (ImGui::ArrowButton(id, ImGuiDir_Down)) ImGui::OpenPopup(popup.c_str());
  ImGui::SetNextWindowSizeConstraints({0, 0}, {ui.em * 40, ui.em * 24});
  if (!ImGui::BeginPopup(popup.c_str())) return;
  const std::string wanted = field;
  for (const std::string& name : ui.workspace.runs.known_columns())
    if (ImGui::Selectable(name.c_str())) field = wanted + (wanted.empty() ? "" : ",") + name;
  ImGui::EndPopup();
}

void draw_runs_question(Ui& ui, float width) {
  RunsView& view = ui.workspace.runs;
  const float list = ImGui::GetFrameHeight() + ui.em * 0.9f;
  const auto field = [&](const char* label, const char* hint, std::string& text, float share,
                         const char* help) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    ImGui::SameLine(0, ui.em * 0.4f);
    ImGui::SetNextItemWidth(width * share - ImGui::CalcTextSize(label).x - list);
    const std::string before = text;
    ImGui::InputTextWithHint((std::string("##") + label).c_str(), hint, &text);
    keep_on_escape(text, before);
    name_part(ui, std::string("runs ") + label);
    help_tooltip(help, ui.em);
  };
  field("where", "speedup > 1 and category = \"rag\"", view.filter, 0.44f,
        "Only rows of which this is true, in the language of lessons; the names are the table's "
        "columns.");
  ImGui::SameLine();
  field("by", "name,category", view.group_by, 0.26f,
        "A row for each combination of values of these columns, settings included: means with "
        "their 95 % intervals.");
  draw_columns(ui, "##by-list", view.group_by);
  ImGui::SameLine();
  field("columns", "the usual ones", view.columns, 0.28f, "These columns, in this order.");
  draw_columns(ui, "##columns-list", view.columns);
}

void draw_actions(Ui& ui, float width) {
  RunsView& view = ui.workspace.runs;
  ImGui::BeginDisabled(!view.can_compare());
  const std::string label = "Compare" + (view.chosen() ? " " + std::to_string(view.chosen()) : "");
  if (ImGui::Button((label + "###compare-runs").c_str())) view.compare_chosen();
  ImGui::EndDisabled();
  name_part(ui, "compare runs");
  help_tooltip(
      "The first two chosen runs side by side. A click on a row chooses it, a double click "
      "opens it; of a group it shows the runs.",
      ui.em);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(std::min(ui.em * 22, width * 0.4f));
  ImGui::InputText("##table-path", &view.save_path);
  name_part(ui, "table path");
  help_tooltip(
      "Where Save writes the table: .csv and .jsonl have every column, .tex and .txt those "
      "that are shown.",
      ui.em);
  ImGui::SameLine();
  if (ImGui::Button("Save###save-table")) view.save(view.save_path);
  name_part(ui, "save table");
  if (view.problem().empty()) return;
  // Beside the buttons, so that the table stays in its place while one types.
  const std::string& problem = view.problem();
  ImGui::SameLine();
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(problem_color(ui)));
  text_fitted(problem.substr(0, problem.find("; it has")), ImGui::GetContentRegionAvail().x);
  ImGui::PopStyleColor();
}

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
      help_tooltip(meaning_of(column), ui.em);
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
  draw_runs_question(ui, area.w);
  draw_actions(ui, area.w);
  if (view.table().rows.empty()) {
    ImGui::TextDisabled(view.runs() == 0 ? "No run yet." : "No run fulfils this.");
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
