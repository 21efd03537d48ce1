// The prompt of the run bar, how it is read, and how far the run goes.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>

#include "app/run/parameter_groups.h"
#include "app/window/ui_parts.h"

namespace triescope::app {
namespace {

// A line below the prompt that drags its lower edge.
void draw_prompt_edge(Ui& ui) {
  float& height = ui.workspace.preferences.prompt_em;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, thick = ui.em * 0.45f;
  ImGui::InvisibleButton("##prompt edge", ImVec2(width, thick));
  const bool held = ImGui::IsItemActive(), over = ImGui::IsItemHovered();
  if (held || over) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  if (held) height += ImGui::GetIO().MouseDelta.y / ui.em;
  if (over && ImGui::IsMouseDoubleClicked(0)) height = Preferences().prompt_em;
  height = std::clamp(height, Preferences::kLeastPromptEm, Preferences::kMostPromptEm);
  const float middle = at.x + width / 2, half = ui.em * 1.1f;
  ImGui::GetWindowDrawList()->AddRectFilled(
      ImVec2(middle - half, at.y + thick * 0.35f), ImVec2(middle + half, at.y + thick * 0.75f),
      ImGui::GetColorU32(held || over ? ImGuiCol_SeparatorHovered : ImGuiCol_Border), thick * 0.2f);
  help_tooltip("Drag: a taller prompt. Double-click: as it was made.", ui.em);
}

void draw_prompt_field(Ui& ui, std::string& prompt) {
  const std::string before = prompt;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InputTextMultiline("##prompt", &prompt,
                            ImVec2(-FLT_MIN, ui.em * ui.workspace.preferences.prompt_em),
                            ImGuiInputTextFlags_WordWrap);
  keep_on_escape(prompt, before);
  if (!prompt.empty() || ImGui::IsItemActive()) return;
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  ImGui::GetWindowDrawList()->AddText(
      ImVec2(at.x + padding.x, at.y + padding.y), ImGui::GetColorU32(ImGuiCol_TextDisabled),
      ui.workspace.prompt_is_ids() ? "Type token ids, such as 1, 2, 3, then start"
                                   : "Type a prompt, then start");
}

void draw_limits(Ui& ui, RunRequest& request) {
  if (!ImGui::BeginTable("limits", 2)) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.0f);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, ui.em * 8.2f);
  const auto name = [](const char* text) {
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(text);
  };
  const auto field = [] {
    ImGui::TableNextColumn();
    ImGui::SetNextItemWidth(-FLT_MIN);
  };
  name("New Tokens");
  help_tooltip(
      "New Tokens  (max_new_tokens)\nThe run ends after this many generated tokens, unless a text "
      "ends earlier.",
      ui.em);
  field();
  ImGui::InputInt("##max", &request.max_new_tokens, 8, 64);
  draw_problem(ui, why_refused(new_tokens_parameter(), request.max_new_tokens));
  name("Seed");
  help_tooltip("Seed\nOf all random draws: the same seed draws the same tokens.", ui.em);
  field();
  ImGui::InputScalar("##seed", ImGuiDataType_U64, &request.seed);
  ImGui::EndTable();
}

}  // namespace

void draw_prompt(Ui& ui, RunRequest& request) {
  const LiveStatus& live = ui.workspace.live();
  const bool ids = ui.workspace.prompt_is_ids();
  draw_prompt_count(ui, request);
  draw_prompt_field(ui, request.prompt);
  draw_prompt_edge(ui);
  ImGui::BeginDisabled(ids && !request.chat);  // a template works on text
  ImGui::Checkbox("Chat template", &request.chat);
  ImGui::EndDisabled();
  help_tooltip("Put the prompt into the model's own chat format, as one user message.", ui.em);
  ImGui::SameLine(0, ui.em);
  const bool text_is_possible = !live.tokenizer || live.tokenizer->encodes_text();
  bool ticked = ids;
  ImGui::BeginDisabled(!text_is_possible);
  if (ImGui::Checkbox("Token ids", &ticked)) request.prompt_is_ids = ticked;
  ImGui::EndDisabled();
  help_tooltip(text_is_possible ? "Read the prompt as token ids separated by commas."
                                : "The loaded model has no tokenizer: its prompt is token ids "
                                  "separated by commas, and tokens are shown as their ids.",
               ui.em);
  draw_limits(ui, request);
}

}  // namespace triescope::app
