// Counts the prompt's tokens as the loaded model splits it, and says what to do if it is too long.
#include <imgui.h>

#include <algorithm>

#include "app/window/run_bar/ui_run_bar.h"
#include "app/window/shell/style.h"
#include "core/base/counted.h"

namespace triescope::app {
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

std::string prompt_problem(const Ui& ui, const RunRequest& request) {
  if (!has_prompt(request)) return "";
  const PromptCount count = ui.workspace.prompt_counter.count();
  if (!count.problem.empty() || count.tokens < 0) return count.problem;
  return over_context(count.tokens, request.max_new_tokens, count.context);
}

void draw_prompt_count(Ui& ui, const RunRequest& request) {
  const LiveStatus& live = ui.workspace.live();
  const bool is_loaded =
      live.model && live.model->path == ui.workspace.answers.model_path(request.model);
  ui.workspace.prompt_counter.ask(ui.workspace.run.shared_host(),
                                  is_loaded ? live.tokenizer.get() : nullptr, request);
  if (!has_prompt(request)) return;
  const PromptCount count = ui.workspace.prompt_counter.count();
  if (count.unread)
    return draw_heading_note(
        ui, "counted after loading", false,
        "The tokenizer of this model could not be read by itself where the model is. The prompt's "
        "tokens are counted once the model is loaded.");
  if (count.tokens < 0 && count.problem.empty()) return;  // the first count is under way
  std::string line;
  if (count.tokens >= 0) {
    line = count.context > 0
               ? std::to_string(count.tokens) + " of " + counted(count.context, "token")
               : counted(count.tokens, "token");
  }
  draw_heading_note(ui, line, !prompt_problem(ui, request).empty(),
                    "Tokens of the prompt as " + count.model +
                        " splits it, chat template and special tokens included, of the context it "
                        "was trained for. Prompt + max_new_tokens must fit.");
}

}  // namespace triescope::app
