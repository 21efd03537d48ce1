#include "app/window/script.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/base/text_file.h"
#include "core/base/trimmed.h"
#include "core/base/words.h"

namespace triescope::app {
namespace {

constexpr double kWaitSeconds = 300;

[[noreturn]] void refuse_wait(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, why);
}

// Why the newest run does not go on while nothing is under way.
std::string why_it_stands(const LiveStatus& live) {
  const std::string step = std::to_string(capture::step_of(live.next_tick));
  if (live.state == LiveState::kDone) return "the run has ended";
  if (live.state == LiveState::kPaused)
    return "the run is paused at step " + step +
           (live.pause_reason.empty() ? "" : " (" + live.pause_reason + ")") +
           "; put 'run' before this line";
  return "no run was started; put 'start-run' before this line";
}

// Why the capture shown will not reach `step` while nothing is under way; "" = it may.
std::string why_not_step(const Workspace& workspace, std::int32_t step) {
  const Document* const active = workspace.active();
  const LiveStatus& live = workspace.live();
  if (!active || workspace.documents.active_is_live()) {
    // The run's newest rows may not have been read yet.
    const bool recorded =
        active && live.next_tick > capture::make_tick(step, capture::Phase::kDraft);
    return recorded ? "" : why_it_stands(live);
  }
  // Another program may be recording it.
  if (active->capture->status() == capture::RunStatus::kRunning) return "";
  return "the capture ends with step " + std::to_string(active->capture->last_step());
}

// False while there is time left. Error{kIoError}: the time is over.
bool is_over(const std::string& what, double waited) {
  if (waited <= kWaitSeconds) return false;
  throw Error(ErrorCode::kIoError, "still waiting for '" + what + "' after " +
                                       std::to_string(static_cast<int>(kWaitSeconds)) + " s");
}

// True once the condition holds.
bool wait(const std::string& argument, ScriptHost& host) {
  const std::vector<std::string> args = words(argument);
  const bool begins = host.waiting_since < 0;
  if (begins) host.waiting_since = host.seconds;
  const double waited = host.seconds - host.waiting_since;
  const std::string what = args.empty() ? "" : args[0];
  if (what == "ms" && args.size() == 2)
    return waited * 1000 >= static_cast<double>(script_number(args[1]));
  if (what == "file" && args.size() > 1) {
    std::error_code ignored;
    const std::string path = argument.substr(what.size() + 1);  // spaces and all
    return std::filesystem::exists(path, ignored) || is_over(what, waited);
  }
  if (!host.workspace.log.problems.empty())
    refuse_wait("while waiting: " + host.workspace.log.problems.back());
  bool met = false;
  if (what == "idle") {
    met = host.workspace.idle();
  } else if (what == "done") {
    met = host.workspace.live().state == LiveState::kDone && host.workspace.idle();
    if (!met && host.workspace.idle())
      refuse_wait("wait done: " + why_it_stands(host.workspace.live()));
  } else if (what == "model") {
    const bool loaded = host.workspace.live().model.has_value();
    met = loaded && host.workspace.idle();
    // Other work, such as counting a prompt before its model is loaded, loads nothing.
    if (host.workspace.run.idle() && !loaded) {
      // Nothing is loading, so load the model that was named, for example on the command line.
      if (!begins || host.workspace.request().model.empty())
        refuse_wait(
            "wait model: no model is loaded and none is being loaded; put 'model MODEL' before "
            "this line, or give --model on the command line");
      host.workspace.run.load_model();
    }
  } else if (what == "drawn") {
    met = !host.workspace.lesson.is_drawing();
  } else if (what == "step" && args.size() == 2) {
    const Document* active = host.workspace.active();
    const auto step = static_cast<std::int32_t>(script_number(args[1]));
    met = active && active->capture->last_step() >= step;
    if (!met && host.workspace.idle())
      if (const std::string why = why_not_step(host.workspace, step); !why.empty())
        refuse_wait("wait step " + args[1] + ": " + why);
  } else {
    refuse_wait("wait: expected step N, idle, done, model, drawn, file PATH or ms N");
  }
  return met || is_over(what, waited);
}

}  // namespace

Script::Script(const std::string& path, const CommandTable& commands) : path_(path) {
  std::istringstream file(read_text_file(path, "a script, one command a line"));
  std::string text;
  std::vector<std::string> known = script_verbs();
  known.insert(known.begin(), "wait");
  for (const Command& command : commands.all()) known.push_back(command.id);
  for (int line_number = 1; std::getline(file, text); ++line_number) {
    text = std::string(trimmed(text));
    if (text.empty() || text.starts_with('#')) continue;
    const auto space = text.find(' ');
    ScriptCommand command{text.substr(0, space),
                          space == std::string::npos ? "" : text.substr(space + 1)};
    if (std::ranges::count(known, command.verb) == 0) {
      std::string list;
      for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
      throw Error(ErrorCode::kInvalidArgument,
                  path + ":" + std::to_string(line_number) + ": there is no command '" +
                      command.verb + "'; known are " + list + did_you_mean(command.verb, known));
    }
    lines_.push_back({line_number, std::move(command)});
  }
}

std::string Script::where() const {
  if (finished()) return path_;
  return current().number == 0 ? "command line" : path_ + ":" + std::to_string(current().number);
}

bool run_script_line(Script& script, ScriptHost& host) {
  const ScriptCommand& command = script.current().command;
  try {
    if (command.verb != "wait") {
      run_command(command, host);
    } else {
      if (!wait(command.argument, host)) return false;
      host.waiting_since = -1;
    }
    return true;
  } catch (const Error& error) {
    throw Error(error.code(), script.where() + ": " + error.what());
  }
}

}  // namespace triescope::app
