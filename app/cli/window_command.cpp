// The program without a subcommand: the window.
#include <algorithm>
#include <filesystem>
#include <tuple>

#include "app/cli/commands.h"
#include "app/cli/remote_options.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#ifndef TRIESCOPE_NO_GUI
#include "app/window/window.h"
#include "app/window/workspace/user_scale.h"
#endif

namespace triescope::app {
namespace {

struct WindowCommandOptions : RunOptions {
  std::string script, screenshot, state, layout, size, open;
  std::vector<std::string> files;
  float scale = 0;
  bool no_animation = false, lecture = false;
  RemoteOptions remote;
};

int run_window_command([[maybe_unused]] const WindowCommandOptions& options,
                       [[maybe_unused]] bool has_request, [[maybe_unused]] bool has_prompt) {
#ifdef TRIESCOPE_NO_GUI
  throw Error(ErrorCode::kNotSupported,
              "this build has no window (it was configured with TRIESCOPE_GUI=OFF): use a "
              "subcommand such as decode or export, "
              "or build with the release preset");
#else
  WindowOptions window;
  window.captures = options.files;
  window.request = options.resolve();
  window.has_request = has_request;
  window.has_prompt = has_prompt;
  window.script = options.script;
  window.screenshot = options.screenshot;
  window.state = options.state;
  window.scale = options.scale;
  window.animate = !options.no_animation;
  window.lecture = options.lecture;
  window.layout = options.layout;
  window.open = options.open;
  window.remote = options.remote.place();
  if (!options.size.empty()) std::tie(window.width, window.height) = parse_size(options.size);
  return run_window(window);
#endif
}

}  // namespace

void check_first_word(const CLI::App& root, const std::string& word) {
  std::vector<std::string> known;
  std::string list;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
    list += (list.empty() ? "" : ", ") + known.back();
  }
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored) ||
      std::find(known.begin(), known.end(), word) != known.end())
    return;
  if (word.find('/') != std::string::npos || word.ends_with(".tscap") || word.ends_with(".gguf"))
    throw Error(
        ErrorCode::kNotFound,
        word + ": no such file; expected a .tscap capture, a .gguf model or a model folder");
  throw Error(ErrorCode::kInvalidArgument,
              "'" + word + "' is neither a subcommand nor a file; subcommands are " + list +
                  did_you_mean(word, known));
}

void add_window_options(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<WindowCommandOptions>();
  root.add_option("FILE", options->files,
                  "capture (.tscap) to open; needs no model. Two are compared side by side")
      ->expected(0, 2)
      ->check(file_name());
  options->add_to(root);
  options->remote.add_to(root);
  options->remote.add_session_to(root);
  root.add_option("--open", options->open,
                  "a place in the capture to begin at: step/12, node/57 or step/12/node/57");
  root.add_option("--script", options->script, "drive the window with a file, one command a line")
      ->check(file_name());
  root.add_option("--screenshot", options->screenshot,
                  "write a PNG of the window when the script is done, and end")
      ->check(file_name());
  root.add_option("--state", options->state,
                  "write cursor, focus, panels and counts as JSON, and end")
      ->check(file_name());
  root.add_option("--size", options->size, "WIDTHxHEIGHT of the window; without it as it was left");
  root.add_option("--scale", options->scale, "text size, 1 = normal")
      ->check(number_within(kLeastUserScale, kMostUserScale));
  root.add_flag("--no-animation", options->no_animation, "fixed time step, no animations");
  root.add_option(
      "--layout", options->layout,
      "the layout to begin with: debug, lecture, memory, compare, learn or one of yours");
  root.add_flag("--lecture", options->lecture,
                "begin in lecture mode (F8), at the start of the capture");
  line.action = [options, &root] {
    for (const std::string& file : options->files) check_first_word(root, file);
    if (!options->open.empty() && options->files.empty())
      throw Error(
          ErrorCode::kInvalidArgument,
          "--open: expected a capture beside it: triescope RUN.tscap --open " + options->open);
    bool has_request = false;
    for (const char* name :
         {"--model", "--draft", "--draft-device", "--method", "--prompt", "--prompt-file",
          "--prompt-ids", "--messages", "--chat", "--system", "--system-file", "--max-new-tokens",
          "--seed", "--device", "--dtype", "--kv-dtype", "--set"})
      has_request |= root.get_option(name)->count() > 0;
    bool has_prompt = false;
    for (const char* name : {"--prompt", "--prompt-file", "--prompt-ids", "--messages"})
      has_prompt |= root.get_option(name)->count() > 0;
    return run_window_command(*options, has_request, has_prompt);
  };
}

}  // namespace triescope::app
