// Above the table of runs and its other sheets: which sheet, the question, what is done with the runs.
#include <imgui.h>
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

// Buttons that choose the sheet; one that cannot be shown says what is missing.
void draw_sheets(Ui& ui) {
  static constexpr const char* kTitles[kRunsSheetCount] = {"Table", "Side by side", "Acceptance"};
  static constexpr const char* kHelp[kRunsSheetCount] = {
      "A row a run, or a group of runs.",
      "The chosen runs as columns, with their differences to the first and where the texts part.",
      "Where the drafts of the study's runs were accepted, by method; a bar leads to the runs behind "
      "it."};
  RunsView& view = ui.workspace.runs;
  for (int i = 0; i < kRunsSheetCount; ++i) {
    const auto sheet = static_cast<RunsSheet>(i);
    const std::string lacks = view.lacks(sheet);
    if (i) ImGui::SameLine(0, ui.em * 0.25f);
    ImGui::BeginDisabled(!lacks.empty());
    if (lit_button((std::string(kTitles[i]) + "###sheet" + std::to_string(i)).c_str(),
                   view.sheet() == sheet))
      view.show_sheet(sheet);
    ImGui::EndDisabled();
    name_part(ui, std::string("sheet ") + to_string(sheet));
    help_tooltip(lacks.empty() ? kHelp[i] : lacks, ui.em);
  }
}

void draw_title(Ui& ui, float width) {
  RunsView& view = ui.workspace.runs;
  draw_sheets(ui);
  ImGui::SameLine(0, ui.em * 0.8f);
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::AlignTextToFramePadding();
  text_fitted(title_of(view), width - ImGui::GetCursorPosX() - ui.em * 5.5f);
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

// "only lookup, letters ×": which runs the table is limited to.
void draw_only(Ui& ui) {
  RunsView& view = ui.workspace.runs;
  if (view.only_words().empty()) return;
  if (ImGui::Button(("only " + view.only_words() + "  ×###all-runs").c_str())) view.show_all();
  name_part(ui, "all runs");
  help_tooltip("The table has the runs behind this bar alone. A click shows all of them.", ui.em);
  ImGui::SameLine();
}

void draw_actions(Ui& ui, float width) {
  RunsView& view = ui.workspace.runs;
  const bool is_table = view.sheet() == RunsSheet::kTable;
  if (is_table) draw_only(ui);
  ImGui::BeginDisabled(!view.can_compare());
  const std::string label = "Compare" + (view.chosen() ? " " + std::to_string(view.chosen()) : "");
  if (ImGui::Button((label + "###compare-runs").c_str())) view.compare_chosen();
  ImGui::EndDisabled();
  name_part(ui, "compare runs");
  help_tooltip(
      "Two chosen runs side by side, step by step; of more their figures. A click on a row chooses it, "
      "a double click opens it; of a group it shows the runs.",
      ui.em);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(std::min(ui.em * 22, width * 0.4f));
  ImGui::InputText("##table-path", &view.save_path());
  name_part(ui, "table path");
  help_tooltip(
      view.sheet() == RunsSheet::kAcceptance
          ? "Where Save writes the bars: .svg, .pdf and .png as a picture, .csv as numbers."
      : is_table ? "Where Save writes the table: .csv and .jsonl have every column, .tex and "
                   ".txt those that are shown."
                 : "Where Save writes the runs side by side: .csv, .jsonl, .tex or .txt.",
      ui.em);
  ImGui::SameLine();
  if (ImGui::Button("Save###save-table")) view.save(view.save_path());
  name_part(ui, "save table");
  if (view.problem().empty()) return;
  // Beside the buttons, so that the table stays in its place while one types.
  const std::string& problem = view.problem();
  ImGui::SameLine();
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(problem_color(ui)));
  text_fitted(problem.substr(0, problem.find("; it has")), ImGui::GetContentRegionAvail().x);
  ImGui::PopStyleColor();
}

}  // namespace

void draw_runs_head(Ui& ui, float width) {
  draw_title(ui, width);
  draw_runs_question(ui, width);
  draw_actions(ui, width);
}

}  // namespace triescope::app
