// The bar above the panes, which finds a text in the run shown.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"

namespace triescope::app {

float draw_find_bar(Ui& ui, float width) {
  FindInRun& find = ui.state.find;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  find.update(ui.workspace);
  if (std::exchange(find.just_opened, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(std::min(ui.em * 18, width * 0.4f));
  const bool enter = ImGui::InputTextWithHint(
      "##find", "a token or text of this run", &find.query,
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  name_part(ui, "find");
  help_tooltip(
      "Finds a text in what the run decoded and in its drafts, across tokens too. Enter: the next one; "
      "Shift+Enter: the one before; Esc closes.",
      ui.em);
  if (enter) {
    find.go(ui.workspace, ImGui::GetIO().KeyShift ? -1 : +1);
    ImGui::SetKeyboardFocusHere(-1);  // Enter again goes on
    ui.animating = true;
  }
  ImGui::SameLine();
  // The width is the same for every number, so that the buttons stay under the mouse.
  const std::string count = find.count_text(ui.workspace);
  const float at = ImGui::GetCursorPosX();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(count.c_str());
  ImGui::SameLine(at + ImGui::CalcTextSize("10000 of 10000").x + ui.em * 0.5f);
  command_button(ui, "find-previous", "‹");
  ImGui::SameLine();
  command_button(ui, "find-next", "›");
  ImGui::SameLine();
  if (ImGui::Button("Close###close-find")) find.open = false;
  name_part(ui, "close find");
  return ImGui::GetCursorScreenPos().y - begin.y;
}

}  // namespace triescope::app
