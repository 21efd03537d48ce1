// The run bar's prompt, how it is read, and the length of the run.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <utility>

#include "app/session/parameter_groups.h"
#include "app/session/typed_number.h"
#include "app/window/run_bar/ui_run_bar.h"
#include "app/window/shell/number_field.h"
#include "core/text/tokenizer/conversation.h"

namespace triescope::app {
namespace {

constexpr float kTurnEm = 3.1f;  // height of the system prompt and of a turn: two lines

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

// A text field of several lines, `height` in em. `hint` is shown while it is empty.
void draw_text_field(Ui& ui, const char* id, std::string& text, float height, const char* hint) {
  const std::string before = text;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InputTextMultiline(id, &text, ImVec2(-FLT_MIN, ui.em * height),
                            ImGuiInputTextFlags_WordWrap);
  keep_on_escape(text, before);
  if (!text.empty() || ImGui::IsItemActive()) return;
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  ImGui::GetWindowDrawList()->AddText(ImVec2(at.x + padding.x, at.y + padding.y),
                                      ImGui::GetColorU32(ImGuiCol_TextDisabled), hint);
}

enum class TurnAnswer : std::uint8_t { kStays, kMovesUp, kDeleted };

// An earlier message: its role, its text, what else it says, and buttons that move and delete it.
// `id`: Dear ImGui's, which has the focus.
TurnAnswer draw_turn(Ui& ui, ChatMessage& turn, std::size_t index, int id) {
  const std::string part = "turn " + std::to_string(index + 1);
  TurnAnswer answer = TurnAnswer::kStays;
  ImGui::PushID(id);
  const float button = ImGui::GetFrameHeight();
  ImGui::SetNextItemWidth(ui.em * 7);
  if (ImGui::BeginCombo("##role", turn.role.c_str())) {
    for (const char* const role : message_roles())
      if (ImGui::Selectable(role, turn.role == role)) give_role(turn, role);
    ImGui::EndCombo();
  }
  help_tooltip("Who says this turn. Turns stand in the order in which they were said.", ui.em);
  name_part(ui, part + " role");
  ImGui::SameLine();
  const float both = 2 * button + ImGui::GetStyle().ItemSpacing.x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                       std::max(0.0f, ImGui::GetContentRegionAvail().x - both));
  ImGui::BeginDisabled(index == 0);
  if (ImGui::Button("↑", ImVec2(button, button))) answer = TurnAnswer::kMovesUp;
  ImGui::EndDisabled();
  help_tooltip("Move this turn before the one above it.", ui.em);
  name_part(ui, part + " up");
  ImGui::SameLine();
  if (ImGui::Button("✕", ImVec2(button, button))) answer = TurnAnswer::kDeleted;
  help_tooltip("Delete this turn.", ui.em);
  name_part(ui, part + " delete");
  const std::string more = more_line(turn);
  draw_text_field(ui, "##content", turn.content, kTurnEm, "What was said");
  if (!more.empty() && draw_line_with_button(ui, more, part + " more",
                                             more + "\nThe chat template gets it with this turn."))
    turn.more.clear();
  ImGui::PopID();
  return answer;
}

// The messages that come before the prompt in a chat.
void draw_conversation(Ui& ui, RunRequest& request) {
  ImGui::TextDisabled("system");
  draw_text_field(ui, "##system", request.system, kTurnEm, "System prompt: the template's own");
  help_tooltip(
      "System prompt: tells the model how to answer. Empty: what the model's chat template does by "
      "itself. A template without a system role refuses it when the run starts.",
      ui.em);
  name_part(ui, "system prompt");
  std::vector<int>& ids = ui.state.turn_ids;
  while (ids.size() < request.turns.size())
    ids.push_back(ids.empty() ? 0 : *std::ranges::max_element(ids) + 1);
  TurnAnswer answer = TurnAnswer::kStays;
  std::size_t at = 0;
  for (std::size_t i = 0; i < request.turns.size(); ++i)
    if (const TurnAnswer given = draw_turn(ui, request.turns[i], i, ids[i]);
        given != TurnAnswer::kStays) {
      answer = given;
      at = i;
    }
  if (answer == TurnAnswer::kMovesUp) {
    std::swap(request.turns[at - 1], request.turns[at]);
    std::swap(ids[at - 1], ids[at]);
  } else if (answer == TurnAnswer::kDeleted) {
    request.turns.erase(request.turns.begin() + static_cast<std::ptrdiff_t>(at));
    // The turn below takes the id, and the focus with it.
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1, ids.size() - 1)));
  }
}

// Adds a turn as the last before the prompt; user and assistant alternate.
void draw_add_turn(Ui& ui, RunRequest& request) {
  if (ImGui::Button("Add turn")) {
    const bool answers = !request.turns.empty() && request.turns.back().role == "user";
    request.turns.push_back({answers ? "assistant" : "user", ""});
  }
  help_tooltip(
      "A message that was said before the prompt, which is the user's last; behind a tool's answer "
      "the prompt may be empty. From a file: open a .json file with [{\"role\": \"user\", "
      "\"content\": \"…\"}, …], or {\"tools\": […]}, or a .jinja chat template.",
      ui.em);
  name_part(ui, "add turn");
}

// A number too large for the member is too large for a run.
void set_new_tokens(RunRequest& request, const nlohmann::json& tokens) {
  request.max_new_tokens =
      static_cast<int>(std::clamp<std::int64_t>(tokens.get<std::int64_t>(), INT32_MIN, INT32_MAX));
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
  const Parameter& limit = new_tokens_parameter();
  const NumberAnswer tokens = number_field(
      ui.state.number_edit, "##max",
      {.text = std::to_string(request.max_new_tokens),
       .take = [&](const std::string& text) { set_new_tokens(request, read_typed(limit, text)); },
       .step =
           [&](int direction, bool fast) {
             set_new_tokens(request,
                            stepped(limit, request.max_new_tokens, direction * (fast ? 64 : 8)));
           }});
  draw_problem(
      ui, tokens.problem.empty() ? why_refused(limit, request.max_new_tokens) : tokens.problem);
  name("Seed");
  help_tooltip("Seed\nOf all random draws: the same seed draws the same tokens.", ui.em);
  field();
  draw_problem(
      ui, number_field(ui.state.number_edit, "##seed",
                       {.text = std::to_string(request.seed),
                        .take = [&](const std::string& text) { request.seed = read_seed(text); }})
              .problem);
  ImGui::EndTable();
}

}  // namespace

void draw_prompt(Ui& ui, RunRequest& request) {
  const LiveStatus& live = ui.workspace.live();
  const bool ids = ui.workspace.run.prompt_is_ids();
  draw_prompt_count(ui, request);
  const bool chat = request.chat && !ids;
  if (chat) {
    draw_chat_files(ui, request);
    draw_conversation(ui, request);
    ImGui::TextDisabled("user");
  }
  draw_text_field(ui, "##prompt", request.prompt, ui.workspace.preferences.prompt_em,
                  ids    ? "Type token ids, such as 1, 2, 3, then start"
                  : chat ? "Type what the user says, then start"
                         : "Type a prompt, then start");
  draw_prompt_edge(ui);
  ImGui::BeginDisabled(ids && !request.chat);  // a template works on text
  ImGui::Checkbox("Chat template", &request.chat);
  ImGui::EndDisabled();
  help_tooltip(
      "Put the prompt into the model's own chat format, as the user's message, behind a system prompt "
      "and earlier turns if you give any.",
      ui.em);
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
  if (chat) draw_add_turn(ui, request);
  draw_limits(ui, request);
}

}  // namespace triescope::app
