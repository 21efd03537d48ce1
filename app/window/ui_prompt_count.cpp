// How many tokens the prompt has, as the loaded model splits it, and what to do if it is too long.
#include <imgui.h>

#include <algorithm>

#include "app/window/style.h"
#include "app/window/ui_parts.h"
#include "core/base/counted.h"

namespace triescope::app {
namespace {

viz::Color problem_color(const Ui& ui) {
  return ui.theme.legible(ui.theme.mark(capture::NodeState::kRejected).color);
}

}  // namespace

void draw_heading_note(Ui& ui, const std::string& text, bool problem, const std::string& help) {
  const std::string line = (problem ? "✕ " : "") + text;
  ImGui::PushStyleColor(ImGuiCol_Text,
                        to_imgui_vec(problem ? problem_color(ui) : ui.theme.text_dim));
  ImGui::SameLine();
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(line.c_str()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room));
  ImGui::TextUnformatted(line.c_str());
  ImGui::PopStyleColor();
  help_tooltip(help, ui.em);
}

void draw_problem(const Ui& ui, const std::string& text) {
  if (text.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(problem_color(ui)));
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

std::string prompt_problem(const Ui& ui, const RunRequest& request) {
  const LiveStatus& live = ui.workspace.live();
  if (!live.model || request.prompt.empty()) return "";
  const PromptCounter::Count count = ui.workspace.prompt_counter.count();
  if (!count.problem.empty() || count.tokens < 0) return count.problem;
  return over_context(count.tokens, request.max_new_tokens, live.model->context);
}

void draw_prompt_count(Ui& ui, const RunRequest& request) {
  const LiveStatus& live = ui.workspace.live();
  ui.workspace.prompt_counter.ask(live.tokenizer, request.prompt, request.chat,
                                  request.prompt_is_ids);
  if (!live.model || request.prompt.empty()) return;
  const PromptCounter::Count count = ui.workspace.prompt_counter.count();
  if (count.tokens < 0 && count.problem.empty()) return;  // the first count is under way
  const int context = live.model->context;
  std::string line;
  if (count.tokens >= 0) {
    line = context > 0 ? std::to_string(count.tokens) + " of " + counted(context, "token")
                       : counted(count.tokens, "token");
  }
  draw_heading_note(ui, line, !prompt_problem(ui, request).empty(),
                    "Tokens of the prompt as " + live.model->name +
                        " splits it, chat template and special tokens included, of the context it "
                        "was trained for. Prompt + max_new_tokens must fit.");
}

}  // namespace triescope::app
