// Where a study's drafts were accepted: the bars of each method, and the runs behind a chosen bar.
#include <imgui.h>

#include <algorithm>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"
#include "app/window/workspace/runs_acceptance.h"
#include "core/base/counted.h"

namespace triescope::app {
namespace {

// A button for each thing by which it can be; they go on in a new line where the width ends.
void draw_bys(Ui& ui, float width) {
  RunsAcceptance& sheet = ui.workspace.runs.acceptance();
  for (int i = 0; i < viz::kAcceptanceByCount; ++i) {
    const auto by = static_cast<viz::AcceptanceBy>(i);
    const char* const label = to_string(by);
    const float wide =
        ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x + ui.em * 0.25f;
    if (i > 0) {
      ImGui::SameLine(0, ui.em * 0.25f);
      if (ImGui::GetCursorPosX() + wide > width) ImGui::NewLine();
    }
    if (lit_button(label, by == sheet.by, /*is_small=*/true)) sheet.by = by;
    name_part(ui, std::string("by ") + label);
    help_tooltip(viz::acceptance_headline(by), ui.em);
  }
  if (sheet.busy()) {
    ImGui::SameLine(0, ui.em * 0.6f);
    ImGui::TextDisabled("counting …");
  }
}

void draw_bars(Ui& ui, float width) {
  RunsAcceptance& sheet = ui.workspace.runs.acceptance();
  const auto& methods = sheet.methods();
  ImGui::BeginChild("bars", ImVec2(width, 0), ImGuiChildFlags_NavFlattened);
  if (methods.empty()) {
    if (!sheet.busy())
      ImGui::TextDisabled(
          "No run of these has drafts: only captures of the level tree or full tell them.");
    ImGui::EndChild();
    return;
  }
  viz::Scene scene;
  scene.theme = ui.theme;
  scene.em = ui.em;
  scene.animate = false;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const viz::Rect area{at.x, at.y, ImGui::GetContentRegionAvail().x,
                       viz::AcceptanceSheet::height_em(methods) * ui.em};
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  viz::AcceptanceSheet picture;
  picture.draw(canvas, area, sheet.shown_by(), methods, scene);
  ui.note_text(canvas.smallest_text());
  for (const viz::AcceptanceSheet::Bar& bar : picture.bars()) {
    const viz::AcceptanceGroup& group = methods[bar.method].acceptance.groups[bar.group];
    ImGui::PushID(static_cast<int>(bar.method * 10000 + bar.group));
    ImGui::SetCursorScreenPos(ImVec2(bar.box.x, bar.box.y));
    if (ImGui::InvisibleButton("bar", ImVec2(bar.box.w, bar.box.h), ImGuiButtonFlags_EnableNav))
      sheet.choose(bar.method, bar.group);
    ImGui::PopID();
    name_part(ui, "bar " + methods[bar.method].name + ", " + group.label);
    const bool is_chosen = sheet.is_chosen(bar.method, bar.group);
    if (is_chosen || ImGui::IsItemHovered())
      ImGui::GetWindowDrawList()->AddRect(
          ImVec2(bar.box.x, bar.box.y), ImVec2(bar.box.right(), bar.box.bottom()),
          to_imgui(ui.theme.accent.with_alpha(is_chosen ? 1 : 0.5f)), ui.em * 0.15f);
    std::string help;
    for (const std::string& line : viz::acceptance_group_lines(sheet.shown_by(), group))
      help += line + "\n";
    help_tooltip(help + "A click lists the runs behind it.", ui.em);
  }
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + area.h));
  ImGui::Dummy(ImVec2(1, 1));
  ImGui::EndChild();
}

// The runs behind the chosen bar, the worst first; a click opens one where it refused first.
void draw_behind(Ui& ui, float width) {
  RunsView& view = ui.workspace.runs;
  const RunsAcceptance& sheet = view.acceptance();
  const std::vector<WorstRun>& runs = sheet.behind();
  ImGui::BeginChild("behind", ImVec2(width, 0), ImGuiChildFlags_NavFlattened);
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  text_fitted(sheet.choice_words() + ": " + counted(runs.size(), "run") + ", the worst first",
              ImGui::GetContentRegionAvail().x);
  ImGui::PopFont();
  if (ImGui::SmallButton("Show them in the table")) view.show_behind();
  name_part(ui, "behind in the table");
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY;
  if (ImGui::BeginTable("runs behind", 3, kFlags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("prompt", ImGuiTableColumnFlags_WidthStretch, 0.5f);
    ImGui::TableSetupColumn(is_of_causes(sheet.shown_by()) ? "of this cause" : "accepted",
                            ImGuiTableColumnFlags_WidthStretch, 0.3f);
    ImGui::TableSetupColumn("step", ImGuiTableColumnFlags_WidthStretch, 0.2f);
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(runs.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const WorstRun& run = runs[static_cast<std::size_t>(i)];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushID(i);
        const std::string prompt = run.category + " " + std::to_string(run.prompt);
        if (ImGui::Selectable(prompt.c_str(), false, ImGuiSelectableFlags_SpanAllColumns))
          view.asks_to_open_case(static_cast<std::size_t>(i));
        ImGui::PopID();
        name_part(ui, "behind " + std::to_string(i + 1));
        help_tooltip("Opens " + run.capture +
                         (run.step < 0 ? "; it refused none here."
                                       : ", at the step in which it refused first."),
                     ui.em);
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(
            (std::to_string(run.accepted) + " of " + std::to_string(run.n)).c_str());
        ImGui::TableNextColumn();
        if (run.step >= 0) ImGui::TextUnformatted(std::to_string(run.step).c_str());
      }
    ImGui::EndTable();
  }
  ImGui::EndChild();
}

}  // namespace

void draw_runs_acceptance(Ui& ui, float width) {
  const RunsAcceptance& sheet = ui.workspace.runs.acceptance();
  draw_bys(ui, width);
  if (!sheet.problem().empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(problem_color(ui)));
    ImGui::TextWrapped("%s", sheet.problem().c_str());
    ImGui::PopStyleColor();
  }
  const bool has_choice = sheet.has_choice();
  const float list = has_choice ? std::min(ui.em * 24, width * 0.4f) : 0;
  draw_bars(ui, width - (has_choice ? list + ui.em * 0.6f : 0));
  if (!has_choice) return;
  ImGui::SameLine(0, ui.em * 0.6f);
  draw_behind(ui, list);
}

}  // namespace triescope::app
