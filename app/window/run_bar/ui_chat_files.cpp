// Fields for what a chat is rendered with beside its messages: a template from a file, and tools.
#include <imgui.h>

#include <algorithm>
#include <filesystem>

#include "app/window/run_bar/ui_run_bar.h"
#include "core/base/counted.h"
#include "core/files/json.h"

namespace triescope::app {
namespace {

// "2 tools: add, weather"
std::string tools_line(const std::string& tools) {
  const auto list = formats::parse_ordered_json(tools, "tools");
  std::string names;
  for (const auto& tool : list) {
    const auto& function = tool.contains("function") ? tool["function"] : tool;
    if (!function.is_object() || !function.contains("name") || !function["name"].is_string())
      continue;
    names += (names.empty() ? ": " : ", ") + function["name"].get<std::string>();
  }
  return counted(static_cast<std::int64_t>(list.size()), "tool") + names;
}

}  // namespace

bool draw_line_with_button(Ui& ui, const std::string& line, const std::string& part,
                           const std::string& help) {
  ImGui::PushID(part.c_str());
  const float button = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x - button - ImGui::GetStyle().ItemSpacing.x;
  ImGui::InvisibleButton("##line", ImVec2(std::max(room, 1.0f), button));
  help_tooltip(help, ui.em);
  ImGui::PushClipRect(at, ImVec2(at.x + room, at.y + button), true);
  ImGui::GetWindowDrawList()->AddText(ImVec2(at.x, at.y + ImGui::GetStyle().FramePadding.y),
                                      ImGui::GetColorU32(ImGuiCol_TextDisabled), line.c_str());
  ImGui::PopClipRect();
  ImGui::SameLine();
  const bool pressed = ImGui::Button("✕", ImVec2(button, button));
  help_tooltip("Leave it out.", ui.em);
  name_part(ui, part + " delete");
  ImGui::PopID();
  return pressed;
}

void draw_chat_files(Ui& ui, RunRequest& request) {
  if (!request.chat_template.empty() &&
      draw_line_with_button(
          ui, "template " + std::filesystem::path(request.chat_template_file).filename().string(),
          "chat template",
          request.chat_template_file +
              "\nThis chat template is used in place of the model's own. Open another .jinja file to "
              "change it.")) {
    request.chat_template.clear();
    request.chat_template_file.clear();
  }
  if (!request.tools.empty() &&
      draw_line_with_button(
          ui, tools_line(request.tools), "tools",
          "The chat template tells the model of these tools. What it calls is text and is not run. "
          "Open another .json file with {\"tools\": […]} to change them."))
    request.tools.clear();
}

}  // namespace triescope::app
