#include "app/window/window.h"

#include <GLFW/glfw3.h>

#include <memory>
#include <utility>

#include "app/window/window_loop.h"
#include "app/window/workspace/open_place.h"
#include "viz/canvas/letters.h"

namespace triescope::app {
namespace {

constexpr const char* kFirstPrompt =
    "Once upon a time, a small robot found a key under the old oak tree. It did not know";

// The preferences of the last time, with what the command line asks for.
Preferences preferences_for(const WindowOptions& options, std::string& warning) {
  Preferences preferences = load_preferences(warning);
  if (options.has_request) preferences.request = options.request;
  RunRequest& request = preferences.request;
  if (!request.prompt_ids.empty()) {
    // The ids are shown, and edited, in the prompt field.
    request.prompt = text_of_ids(std::exchange(request.prompt_ids, {}));
    request.prompt_is_ids = true;
  }
  if (request.prompt.empty() && !options.has_prompt) request.prompt = kFirstPrompt;
  if (options.scale > 0) preferences.user_scale = options.scale;
  return preferences;
}

// Shows what the command line names.
void open_named(const WindowOptions& options, Workspace& workspace) {
  for (const std::string& path : options.captures) workspace.open_path(path);
  if (options.captures.size() > 1 && workspace.documents.all().size() > 1) {
    workspace.documents.activate(workspace.documents.all().front().get());
    workspace.comparison.start(workspace.documents.all().back().get());
  }
  if (!options.open.empty() && workspace.active())
    open_place(workspace.documents, *workspace.active(), options.open);
  if (!options.layout.empty()) workspace.use_layout(options.layout);
  if (!options.lecture) return;
  workspace.enter_lecture();
  if (workspace.lecture.is_on())
    workspace.transport.go_to_start();
  else
    workspace.say(LogLevel::kError,
                  "--lecture: expected a capture to show; found none. Open one and press F8");
}

}  // namespace

int run_window(const WindowOptions& options) {
  std::string warning;
  Preferences preferences = preferences_for(options, warning);
  // Before there is a window: a place that is not there is an error of the command line.
  if (!options.open.empty() && !options.captures.empty()) {
    const std::string& path = options.captures.front();
    find_place(*capture::Capture::open(path), path, options.open);
  }
  // Before there is a window, too: a machine that cannot be reached.
  std::unique_ptr<RunHost> decoder;
  if (options.remote.named()) {
    auto remote = remote_host(options.remote, [] { glfwPostEmptyEvent(); });
    remote->wait_connected();
    decoder = std::move(remote);
  }
  WindowLoop window(options, std::move(preferences), std::move(decoder));
  Workspace& workspace = window.workspace();
  if (!warning.empty()) workspace.say(LogLevel::kWarning, warning);
  open_named(options, workspace);
  if (const std::string why = viz::why_no_letters(); !why.empty())
    workspace.say(LogLevel::kWarning, why);
  window.run();
  return 0;
}

}  // namespace triescope::app
