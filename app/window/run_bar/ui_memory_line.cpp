// The memory that the run bar's model and run need, and the memory that is free, at the right end
// of the model's heading.
#include <imgui.h>

#include <algorithm>

#include "app/session/catalog.h"
#include "app/session/device_choice.h"
#include "app/session/memory_check.h"
#include "app/window/run_bar/ui_run_bar.h"
#include "core/base/error.h"
#include "core/model/memory_need.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

constexpr double kSeconds = 2;  // other programs change the free memory too

std::string bytes(std::int64_t count) { return viz::bytes_text(static_cast<double>(count)); }

// Renews `line` for the run bar, and `why` where something does not fit.
void look_up(Ui& ui, const RunRequest& request, std::int64_t prompt_tokens) {
  auto& [made_for, line, what, why, inspected, until] = ui.state.memory;
  const LoadOptions options = target_options(request);
  line = what = why = "";
  // This machine's memory says nothing of another's; loading there tells what does not fit.
  if (const std::string host = ui.workspace.run.host().line().host; !host.empty()) {
    line = "on " + middle_fitted(host, ui.em * 14);
    what = "Runs are decoded on " + host +
           ". Its models and devices are listed here; whether a model fits there is found out when "
           "it is loaded.";
    return;
  }
  try {
    const std::string path = resolve_model(request.model);
    const LiveStatus& live = ui.workspace.live();
    const bool is_loaded = live.model && live.model->path == path &&
                           live.model->device == request.device &&
                           live.model->dtype == request.dtype;
    // A large file's header is read once, not every two seconds.
    if (!is_loaded && inspected.path != path) inspected = inspect_model(path);
    const ModelInfo& info = is_loaded ? *live.model : inspected;
    const MemoryNeed need = memory_need(info, options);
    const std::int64_t free = free_memory(request.device);
    const std::int64_t kv = most_slots(request, prompt_tokens) * need.kv_per_token;
    line = "needs " + bytes((is_loaded ? 0 : need.to_load()) + kv) +
           (free < 0 ? "" : ", " + bytes(free) + " free");
    what = (is_loaded ? "The model is loaded" : "Model: " + bytes(need.to_load())) +
           "\nKeys and values of the prompt and of all tokens that the run may write: at most " +
           bytes(kv) + (free < 0 ? "" : "\nFree on " + request.device + ": " + bytes(free)) +
           "\nEstimates, good to about a tenth.";
    if (!is_loaded) why = why_it_does_not_fit(info, options, free);
    if (why.empty()) why = why_kv_may_not_fit(info, options, request, prompt_tokens, free);
  } catch (const Error&) {
    // Starting the run says what is wrong with the model or the settings.
  }
}

}  // namespace

void draw_memory_line(Ui& ui, const RunRequest& request) {
  const std::int64_t tokens = std::max<std::int64_t>(0, ui.workspace.prompt_counter.count().tokens);
  const std::string asked = request.model + "\n" + request.device + to_string(request.dtype) +
                            to_string(request.kv_dtype.value_or(request.dtype)) + request.method +
                            request.settings.dump() + "\n" +
                            std::to_string(request.max_new_tokens) + " " + std::to_string(tokens) +
                            (ui.workspace.live().model ? "loaded" : "");
  auto& memory = ui.state.memory;
  if (memory.made_for != asked || ImGui::GetTime() > memory.until) {
    look_up(ui, request, tokens);
    memory.made_for = asked;
    memory.until = ImGui::GetTime() + kSeconds;
  }
  if (memory.line.empty()) return;
  const bool problem = !memory.why.empty();
  draw_heading_note(ui, memory.line, problem, problem ? memory.why : memory.what);
}

}  // namespace triescope::app
