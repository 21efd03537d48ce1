// How long the prompt is, in the tokens of the loaded model, and what to do where it is too long.
#include <imgui.h>

#include <algorithm>

#include "app/window/style.h"
#include "app/window/ui.h"

namespace triescope::app {

void Ui::draw_prompt_count(const RunRequest& request) {
  const LiveStatus& live = workspace.live();
  workspace.prompt_counter.ask(live.tokenizer, request.prompt, request.chat);
  if (!live.model || request.prompt.empty()) return;
  const PromptCounter::Count count = workspace.prompt_counter.count();
  if (count.tokens < 0 && count.problem.empty()) return;  // the first count is under way
  const int context = live.model->context;
  const std::string problem = count.problem.empty()
                                  ? over_context(count.tokens, request.max_new_tokens, context)
                                  : count.problem;
  std::string line = problem.empty() ? "" : "✕ ";
  if (count.tokens >= 0) {
    line += std::to_string(count.tokens);
    if (context > 0) line += " of " + std::to_string(context);
    line += " tokens";
  }
  const viz::Color color =
      problem.empty() ? theme.text_dim : theme.mark(capture::NodeState::kRejected).color;
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(color));
  // At the right end of the heading's line; what to do, below it.
  ImGui::SameLine();
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(line.c_str()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room));
  ImGui::TextUnformatted(line.c_str());
  help_tooltip("Tokens of the prompt as " + live.model->name +
                   " splits it, chat template and special tokens included, of the context it was "
                   "trained for. Prompt + max_new_tokens must fit.",
               em);
  if (!problem.empty()) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(problem.c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::PopStyleColor();
}

}  // namespace triescope::app
