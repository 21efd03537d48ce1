// The memory that the run bar's model and run need where they are decoded, and the memory that is
// free there, at the right end of the model's heading.
#include <imgui.h>

#include <algorithm>
#include <string>

#include "app/window/run_bar/ui_run_bar.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

constexpr double kSeconds = 2;  // other programs change the free memory too

std::string bytes(std::int64_t count) { return viz::bytes_text(static_cast<double>(count)); }

std::string help_of(const RunMemory& memory, const RunRequest& request, const std::string& host) {
  const std::string where = request.device + (host.empty() ? "" : " of " + host);
  return (memory.to_load == 0 ? "The model is loaded" : "Model: " + bytes(memory.to_load)) +
         "\nKeys and values of the prompt and of all tokens that the run may write: at most " +
         bytes(memory.kv) +
         (memory.free < 0 ? "" : "\nFree on " + where + ": " + bytes(memory.free)) +
         "\nEstimates, good to about a tenth.";
}

}  // namespace

void draw_memory_line(Ui& ui, const RunRequest& request) {
  const std::int64_t tokens = std::max<std::int64_t>(0, ui.workspace.prompt_counter.count().tokens);
  const bool again = ImGui::GetTime() > ui.state.memory_until;
  if (again) ui.state.memory_until = ImGui::GetTime() + kSeconds;
  // Starting the run says what is wrong with a model or settings for which there is no answer.
  const std::optional<RunMemory>& memory = ui.workspace.answers.memory_of(request, tokens, again);
  const std::string host = ui.workspace.run.host().line().host;
  const bool problem = memory && !memory->problem.empty();
  // Another machine's name tells whose models these are, and goes before the figures.
  const std::string where = host.empty() ? "" : "on " + middle_fitted(host, ui.em * 9);
  std::string line = where;
  if (memory) {
    const std::int64_t need = memory->to_load + memory->kv;
    line = where.empty()      ? need_text(need, memory->free)
           : memory->free < 0 ? where + ": " + bytes(need)
                              : where + ": " + bytes(need) + " of " + bytes(memory->free);
  }
  if (line.empty()) return;
  std::string help = problem ? memory->problem : memory ? help_of(*memory, request, host) : "";
  if (!host.empty())
    help = "Runs are decoded on " + host + ". Its models and devices are listed here." +
           (help.empty() ? "" : "\n" + help);
  draw_heading_note(ui, line, problem, help);
}

}  // namespace triescope::app
