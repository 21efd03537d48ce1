// The glossary: all terms with their meanings, where each is seen and which lesson is about it. It
// opens at the term under the mouse, if there is one.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <cfloat>
#include <utility>

#include "app/window/dialogs/dialog_rows.h"
#include "app/window/dialogs/ui_dialogs.h"
#include "viz/text/glossary.h"

namespace triescope::app {
namespace {

// Draws a term's links as small buttons in a line. True: one was pressed.
bool draw_links(Ui& ui, const std::string& term) {
  bool first = true;
  for (const viz::GlossaryLink& link : viz::glossary_links(term)) {
    if (!std::exchange(first, false)) ImGui::SameLine();
    const bool panel = link.kind == viz::GlossaryLink::Kind::kPanel;
    const bool possible = !panel || ui.workspace.active();
    ImGui::BeginDisabled(!possible);
    const std::string label = (panel ? "Panel: " : "") + link.text;
    const bool pressed = ImGui::SmallButton((label + "###" + term + link.target).c_str());
    ImGui::EndDisabled();
    name_part(ui, term + ": " + link.target);
    help_tooltip(!panel     ? "Opens this lesson."
                 : possible ? "Brings the panel to the front."
                            : "Once there is a run: brings the panel to the front.",
                 ui.em);
    if (!pressed) continue;
    if (panel)
      ui.workspace.go_to_panel(link.target);
    else
      ui.workspace.open_lesson(link.target);
    return true;
  }
  return false;
}

}  // namespace

bool draw_glossary(Ui& ui) {
  std::string& query = ui.state.dialogs.glossary_query;
  if (ui.state.dialog_just_opened) {
    query = ui.state.hovered_term;
    ImGui::SetKeyboardFocusHere();
  }
  ImGui::SetNextItemWidth(-FLT_MIN);
  ImGui::InputTextWithHint("##query", "a term, or a word of its meaning", &query,
                           ImGuiInputTextFlags_AutoSelectAll);
  ImGui::BeginChild("terms", ImVec2(0, 0), ImGuiChildFlags_NavFlattened);
  const auto rows = glossary_rows(query);
  if (rows.empty())
    ImGui::TextDisabled("%s", viz::glossary().empty() ? "docs/glossary.md cannot be read."
                                                      : "No term, and no meaning, has this in it.");
  bool done = false;
  if (ImGui::BeginTable("terms", 2, ImGuiTableFlags_RowBg)) {
    ImGui::TableSetupColumn("term", ImGuiTableColumnFlags_WidthFixed, ui.em * 13);
    ImGui::TableSetupColumn("meaning");
    for (const auto& [term, meaning] : rows) {
      ImGui::TableNextColumn();
      ImGui::PushFont(ui.fonts.ui_bold, 0);
      ImGui::PushTextWrapPos(0);
      ImGui::TextUnformatted(term.c_str());
      ImGui::PopTextWrapPos();
      ImGui::PopFont();
      ImGui::TableNextColumn();
      ImGui::PushTextWrapPos(0);
      ImGui::TextUnformatted(meaning.c_str());
      ImGui::PopTextWrapPos();
      done = done || draw_links(ui, term);
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
  return done;
}

}  // namespace triescope::app
