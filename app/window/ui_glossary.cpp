// All terms of panels, legends and column heads with what they mean. With the mouse over one of them
// it opens at that term.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <cfloat>

#include "app/window/dialog_rows.h"
#include "app/window/ui_dialogs.h"
#include "viz/assets/glossary.h"

namespace triescope::app {

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
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
  return false;
}

}  // namespace triescope::app
