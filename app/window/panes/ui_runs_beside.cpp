// The chosen runs of the table beside each other: a line a figure, a column a run.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"
#include "app/window/workspace/runs_side_by_side.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

// "+83 %", or "+3" where the first run has 0; "" where the two are the same.
std::string difference_text(const nlohmann::json& first, double difference) {
  const double base = first.get<double>();
  if (difference == 0) return "";
  const char* const sign = difference > 0 ? "+" : "−";
  if (base == 0) return sign + viz::number_text(std::abs(difference), 2);
  const double percent = 100 * std::abs(difference / base);
  constexpr double kWholeFrom = 10;
  return sign + viz::number_text(percent, percent < kWholeFrom ? 1 : 0) + " %";
}

void right_aligned(const std::string& text, float room) {
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                       std::max(0.0f, room - ImGui::CalcTextSize(text.c_str()).x));
  ImGui::TextUnformatted(text.c_str());
}

void draw_figure(Ui& ui, const BesideFigure& figure) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(middle_fitted(figure.column, ImGui::GetContentRegionAvail().x).c_str());
  help_tooltip(study_meaning(figure.column), ui.em);
  for (std::size_t i = 0; i < figure.values.size(); ++i) {
    ImGui::TableNextColumn();
    const nlohmann::json& value = figure.values[i];
    if (value.is_null()) continue;
    const std::string text = study_cell({{figure.column, value}}, figure.column, "");
    const float room = ImGui::GetContentRegionAvail().x;
    const std::string difference =
        i > 0 && figure.differences[i]
            ? difference_text(figure.values.front(), *figure.differences[i])
            : "";
    if (!figure.differences[i] && !value.is_number_float()) {
      ImGui::TextUnformatted(middle_fitted(text, room).c_str());
      help_tooltip(text, ui.em);
      continue;
    }
    // The figures stand under each other, and so do the differences behind them.
    const float x = ImGui::GetCursorPosX(), half = room * 0.55f;
    right_aligned(text, half);
    if (difference.empty()) continue;
    ImGui::SameLine(0, 0);
    ImGui::SetCursorPosX(x + half);
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
    right_aligned(difference, room - half);
    ImGui::PopStyleColor();
  }
}

// Where each text parts from the first one's; a click opens both runs there.
void draw_partings(Ui& ui, const RunsSideBySide& sheet) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted("text");
  help_tooltip("Beside that of the first run. A click opens both runs where the texts part.",
               ui.em);
  ImGui::TableNextColumn();
  if (sheet.busy()) ImGui::TextDisabled("reading the captures …");
  for (std::size_t i = 0; i < sheet.partings().size(); ++i) {
    ImGui::TableNextColumn();
    const auto& parting = sheet.partings()[i];
    const std::string words = parting_words(parting);
    if (words.empty()) {
      ImGui::TextDisabled("not recorded");
      continue;
    }
    ImGui::PushID(static_cast<int>(i));
    const std::string shown =
        parting->same_text || !parting->same_prompt
            ? words
            : "≠ after " + std::to_string(parting->tokens) +
                  (parting->step < 0 ? "" : ", step " + std::to_string(parting->step));
    if (ImGui::Selectable(shown.c_str())) ui.workspace.runs.asks_to_compare(i + 1);
    ImGui::PopID();
    name_part(ui, "parting " + std::to_string(i + 2));
    help_tooltip(words + ". A click opens both runs there.", ui.em);
  }
}

}  // namespace

void draw_runs_beside(Ui& ui, float width) {
  const RunsSideBySide& sheet = ui.workspace.runs.side_by_side();
  const RunsBeside& beside = sheet.beside();
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                     ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerV;
  const int count = static_cast<int>(beside.names.size()) + 1;
  const std::string id = "beside" + std::to_string(count);
  if (!ImGui::BeginTable(id.c_str(), count, kFlags, {width, ImGui::GetContentRegionAvail().y}))
    return;
  ImGui::TableSetupScrollFreeze(1, 1);
  const float first = ui.em * 13, least = ui.em * 12, most = ui.em * 20;
  const ImGuiStyle& style = ImGui::GetStyle();
  const float room = width - first - style.ScrollbarSize -
                     2 * style.CellPadding.x * static_cast<float>(count) - ui.em;
  const float each = std::clamp(room / static_cast<float>(count - 1), least, most);
  ImGui::TableSetupColumn("figure", ImGuiTableColumnFlags_WidthFixed, first);
  for (const std::string& name : beside.names)
    ImGui::TableSetupColumn(name.c_str(), ImGuiTableColumnFlags_WidthFixed, each);
  ImGui::TableHeadersRow();
  draw_partings(ui, sheet);
  for (const BesideFigure& figure : beside.figures) draw_figure(ui, figure);
  ImGui::EndTable();
}

}  // namespace triescope::app
