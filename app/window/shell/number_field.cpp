#include "app/window/shell/number_field.h"

#include <imgui_stdlib.h>

#include <algorithm>

#include "core/base/error.h"

namespace triescope::app {
namespace {

std::string why_not_taken(const NumberValue& value, const std::string& text) try {
  value.take(text);
  return "";
} catch (const Error& error) {
  return error.what();
}

// Draws the buttons for less and more. Returns -1, +1, or 0 where neither was pressed.
int step_buttons(float size, float gap) {
  int direction = 0;
  ImGui::PushItemFlag(ImGuiItemFlags_ButtonRepeat, true);
  for (const auto& [name, by] : {std::pair{"-", -1}, std::pair{"+", 1}}) {
    ImGui::SameLine(0, gap);
    if (ImGui::Button(name, ImVec2(size, size))) direction = by;
  }
  ImGui::PopItemFlag();
  return direction;
}

}  // namespace

NumberAnswer number_field(NumberEdit& edit, const char* label, const NumberValue& value) {
  NumberAnswer answer;
  const float button = ImGui::GetFrameHeight(), gap = ImGui::GetStyle().ItemInnerSpacing.x;
  const float width = ImGui::CalcItemWidth() - (value.step ? 2 * (button + gap) : 0);
  if (value.step) ImGui::BeginGroup();  // else the field itself is the last item
  ImGui::PushID(label);
  const ImGuiID id = ImGui::GetID("##text");
  std::string text = edit.id == id ? edit.text : value.text;
  ImGui::SetNextItemWidth(std::max(1.0f, width));
  const bool enter = ImGui::InputText(
      "##text", &text, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  if (ImGui::IsItemActivated()) {
    edit.id = id;
    edit.text = edit.before = value.text;
    edit.why.clear();
    edit.refused.erase(id);
  }
  if (edit.id == id) {
    if (text != edit.text) {
      edit.text = text;
      edit.why = why_not_taken(value, text);
      answer.changed = true;
      answer.restored = !edit.why.empty();
      if (answer.restored) why_not_taken(value, edit.before);
    }
    if (enter) answer.entered = edit.why.empty();
    if (!ImGui::IsItemActive()) {
      if (!edit.why.empty())
        edit.refused[id] = {edit.before, edit.why + ". It stays " + edit.before};
      edit.id = 0;
    }
  }
  if (const int direction = value.step ? step_buttons(button, gap) : 0; direction != 0) {
    value.step(direction, ImGui::GetIO().KeyCtrl);
    answer.changed = true;
    edit.refused.erase(id);
  }
  ImGui::PopID();
  if (value.step) ImGui::EndGroup();
  if (const auto refused = edit.refused.find(id); refused != edit.refused.end()) {
    // A script or a run taken over has set another value, so the message is out of date.
    if (edit.id != id && !answer.changed && value.text != refused->second.first)
      edit.refused.erase(refused);
    else
      answer.problem = refused->second.second;
  }
  return answer;
}

}  // namespace triescope::app
