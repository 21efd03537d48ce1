#include "app/window/shell/ui.h"

#include <algorithm>
#include <cmath>

#include "app/window/shell/line_fit.h"
#include "app/window/shell/resting_mouse.h"
#include "app/window/shell/style.h"

namespace triescope::app {
void help_tooltip(const std::string& text, float em) {
  if (text.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  if (tooltips_wait()) return;
  // Right after a click its effect matters more than the button's name.
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 pressed = io.MouseClickedPos[0];
  if (std::hypot(io.MousePos.x - pressed.x, io.MousePos.y - pressed.y) < em * 0.5f) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(em * 30);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void keep_on_escape(std::string& text, const std::string& before) {
  if (ImGui::IsItemDeactivated() && ImGui::IsKeyPressed(ImGuiKey_Escape)) text = before;
}

std::string middle_fitted(const std::string& text, float width) {
  // The cut must not fall within a UTF-8 character.
  std::size_t keep = text.size();
  std::string cut = text;
  const auto boundary = [&](std::size_t at) {
    while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
      --at;
    return at;
  };
  while (keep > 2 && ImGui::CalcTextSize(cut.c_str()).x > width) {
    keep -= std::max<std::size_t>(1, keep / 16);
    cut = text.substr(0, boundary(keep / 2)) + "…" + text.substr(boundary(text.size() - keep / 2));
  }
  return cut;
}

float line_width(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; }

void line_fitted(const std::string& shown, const std::string& whole) {
  ImGui::TextUnformatted(shown.c_str());
  if (shown != whole && ImGui::IsItemHovered() && !tooltips_wait())
    ImGui::SetTooltip("%s", whole.c_str());
}

void text_fitted(const std::string& text, float width) {
  const std::string words = words_that_fit(text, width, line_width);
  line_fitted(words.empty() ? middle_fitted(text, width) : words, text);
}

bool lit_button(const char* label, bool is_lit, bool is_small) {
  if (is_lit)
    ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_ButtonActive));
  const bool pressed = is_small ? ImGui::SmallButton(label) : ImGui::Button(label);
  if (is_lit) ImGui::PopStyleColor();
  return pressed;
}

bool command_button(Ui& ui, const char* id, const char* label, bool primary) {
  const Command* command = ui.commands.find(id);
  const bool enabled = command->is_enabled();
  ImGui::BeginDisabled(!enabled);
  if (primary)
    ImGui::PushStyleColor(ImGuiCol_Button, to_imgui_vec(ui.theme.accent.with_alpha(0.45f)));
  const bool pressed = ImGui::Button(label);
  if (primary) ImGui::PopStyleColor();
  ImGui::EndDisabled();
  help_tooltip(command->title +
                   (command->chords.empty() ? "" : "  " + to_string(command->chords.front())) +
                   (command->help.empty() ? "" : "\n" + command->help),
               ui.em);
  if (has_walk_focus()) ui.walk_focus = command->id;
  if (pressed) command->run();
  return pressed;
}

void name_part(Ui& ui, const std::string& name) {
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  ui.press_targets.push_back({name, {a.x, a.y, b.x - a.x, b.y - a.y}});
  if (has_walk_focus()) ui.walk_focus = name;
}

std::vector<viz::SeenPanel> UiState::seen(const std::string& panel, const Workspace& workspace,
                                          bool both) const {
  std::vector<viz::SeenPanel> found;
  for (const Document* document :
       {workspace.active(), both ? workspace.comparison.partner() : nullptr})
    for (const DrawnPanel& drawn : drawn_panels)
      if (document && drawn.document == document->serial && drawn.panel == panel)
        found.push_back({document->panel(panel), drawn.scene, drawn.size, document->title});
  return found;
}

viz::Color problem_color(const Ui& ui) {
  return ui.theme.legible(ui.theme.mark(capture::NodeState::kRejected).color);
}

void draw_problem(const Ui& ui, const std::string& text) {
  if (text.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(problem_color(ui)));
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

}  // namespace triescope::app
