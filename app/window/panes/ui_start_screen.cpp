// The start screen, in the panes' place while no capture is open: start, recent runs, lessons.
#include <imgui.h>

#include <algorithm>

#include "app/window/lessons/ui_lesson.h"
#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"
#include "app/window/workspace/document_names.h"

namespace triescope::app {
namespace {

// Lists earlier runs or captures by name or prompt, method and time; a click opens one.
void draw_recent(Ui& ui, const char* title, const std::string& part,
                 const std::vector<RecentCapture>& recent, std::size_t most, float width) {
  if (recent.empty()) return;
  ImGui::Dummy(ImVec2(0, ui.em * 1.2f));
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted(title);
  ImGui::PopFont();
  if (!ImGui::BeginTable(part.c_str(), 3, ImGuiTableFlags_None, ImVec2(width, 0))) return;
  ImGui::TableSetupColumn("file", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("method", ImGuiTableColumnFlags_WidthFixed, ui.em * 12);
  ImGui::TableSetupColumn("recorded", ImGuiTableColumnFlags_WidthFixed, ui.em * 8.5f);
  std::string chosen;
  int number = 0;
  for (const RecentCapture& one : recent) {
    if (most-- == 0) break;
    ImGui::TableNextColumn();
    const std::string name =
        middle_fitted(recent_name(one), ImGui::GetContentRegionAvail().x) + "###" + one.path;
    if (ImGui::Selectable(name.c_str(), false, ImGuiSelectableFlags_SpanAllColumns))
      chosen = one.path;
    name_part(ui, part + " " + std::to_string(++number));
    help_tooltip(one.path, ui.em);
    for (const std::string& text : {one.method, one.recorded}) {
      ImGui::TableNextColumn();
      ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
      ImGui::TextUnformatted(middle_fitted(text, ImGui::GetContentRegionAvail().x).c_str());
      ImGui::PopStyleColor();
    }
  }
  ImGui::EndTable();
  if (!chosen.empty()) ui.workspace.documents.open(chosen);
}

}  // namespace

void draw_empty(Ui& ui, viz::Rect area) {
  ImGui::SetCursorScreenPos(ImVec2(area.x, area.y));
  ImGui::BeginChild("empty", ImVec2(area.w, area.h), ImGuiChildFlags_NavFlattened);
  // Lessons stand beside the rest where there is room, else below it.
  const bool beside = area.w >= ui.em * 58;
  const float whole = std::min(area.w - ui.em * 2, ui.em * (beside ? 66 : 34));
  const float width = beside ? whole * 0.45f : whole, left = (area.w - whole) / 2;
  // The list starts higher up where the lessons need the room.
  float& list_height = ui.state.lesson_list_height;
  const float top = std::max(
      ui.em, beside ? std::min(area.h * 0.14f, area.h - list_height - ui.em) : area.h * 0.1f);
  ImGui::SetCursorPos(ImVec2(left, top));
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  const RunRequest& request = ui.workspace.request();
  const bool ready =
      has_prompt(request) && !(request.model.empty() && ui.workspace.answers.models().empty());
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted(ready ? "Ready to decode your prompt" : "Nothing decoded yet");
  ImGui::PopFont();
  ImGui::TextUnformatted(
      ready
          ? "Start loads the model; then Step (F10) goes on by a token and Back returns. The "
            "run bar (F2) has the prompt, the method and the model. Ctrl+O opens a capture, or "
            "drop its file here."
          : "Choose a model, a method and a prompt in the run bar (F2), then press Start and step "
            "through the run with F10, or open a capture (Ctrl+O, or drop its file here).");
  ImGui::PopTextWrapPos();
  ImGui::Dummy(ImVec2(0, ui.em * 0.5f));
  command_button(ui, "start", "Start", /*primary=*/true);
  ImGui::SameLine();
  command_button(ui, "start-run", "Start and run");
  ImGui::SameLine();
  command_button(ui, "open", "Open…");
  // Runs come first, because a saved or opened file can also be found by its name.
  draw_recent(ui, "Recent runs", "run", ui.workspace.preferences.recent_runs, beside ? 6 : 4,
              width);
  draw_recent(ui, "Recent captures", "recent", ui.workspace.preferences.recent_captures,
              beside ? 10 : 6, width);
  ImGui::EndGroup();
  if (beside) {
    ImGui::SetCursorPos(ImVec2(left + whole * 0.5f, top));
  } else {
    ImGui::SetCursorPosX(left);
  }
  ImGui::BeginGroup();
  if (!beside) ImGui::Dummy(ImVec2(0, ui.em * 1.2f));
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted("Or take a lesson");
  ImGui::PopFont();
  draw_lesson_list(ui, beside ? whole * 0.5f : width);
  ImGui::EndGroup();
  const float height = ImGui::GetItemRectSize().y;
  if (height != list_height) ui.animating = true;
  list_height = height;
  ImGui::EndChild();
}

}  // namespace triescope::app
