#include "app/window/script.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/base/text_file.h"
#include "core/base/trimmed.h"
#include "core/base/words.h"
#include "core/capture/phase_names.h"
#include "core/methods/registry.h"

namespace triescope::app {
namespace {

constexpr double kWaitSeconds = 300;

struct Verb {
  const char* name;
  const char* arguments;  // for messages; "" = none
};
constexpr Verb kVerbs[] = {
    {"wait", "step N | idle | done | model | drawn | file PATH | ms N"},
    {"cursor", "STEP [draft|forward|accept|commit|observe]"},
    {"range", "FIRST LAST | all"},
    {"focus", "NODE"},
    {"lock", "NODE"},
    {"model", "MODEL"},
    {"draft-model", "MODEL"},
    {"draft-device", "DEVICE, or same"},
    {"method", "NAME"},
    {"set", "name=value"},
    {"prompt", "TEXT"},
    {"system", "TEXT"},
    {"messages", "FILE.json"},
    {"chat", "on|off"},
    {"prompt-is-ids", "on|off"},
    {"max-new-tokens", "N"},
    {"seed", "N"},
    {"open-file", "PATH"},
    {"save-file", "PATH"},
    {"panel", "NAME"},
    {"panels", "NAME [NAME [NAME]]"},
    {"lecture-panels", "NAME [NAME]"},
    {"lesson", "NAME or FILE.md"},
    {"lesson-step", "N"},
    {"maximise-panel", "NAME"},
    {"undock", "NAME"},
    {"layout", "NAME"},
    {"save-layout", "NAME"},
    {"set-theme", "dark|light|projector"},
    {"set-scale", "X"},
    {"size", "WIDTHxHEIGHT"},
    {"breakpoint", "KIND [N or TEXT]"},
    {"find-text", "TEXT"},
    {"play-speed", "FACTOR"},
    {"branch", "NODE TOKEN"},
    {"branch-with", "NODE TEXT"},
    {"export-panel", "PANEL svg|pdf|png|csv|gif|png-frames PATH [whole|step|seen]"},
    {"export-handout", "PATH"},
    {"export-data", "PATH"},
    {"document", "N"},
    {"compare", "N"},
    {"screenshot", "FILE.png"},
    {"write-state", "FILE.json"},
};

const Verb* find_verb(const std::string& name) {
  for (const Verb& verb : kVerbs)
    if (name == verb.name) return &verb;
  return nullptr;
}

[[noreturn]] void refuse(const Script& script, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, script.where() + ": " + why);
}

long long number(const Script& script, const std::string& text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    refuse(script, "expected a number, found '" + text + "'");
  return value;
}

double real_number(const Script& script, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(script, "expected a number, found '" + text + "'");
  return value;
}

Document& document(const Script& script, ScriptHost& host) {
  if (!host.workspace.active())
    refuse(script, "no capture is open: start a run or open a file first");
  return *host.workspace.active();
}

// Why the newest run goes no further while nothing is under way.
std::string why_it_stands(const LiveStatus& live) {
  const std::string step = std::to_string(capture::step_of(live.next_tick));
  if (live.state == LiveState::kDone) return "the run has ended";
  if (live.state == LiveState::kPaused)
    return "the run is paused at step " + step +
           (live.pause_reason.empty() ? "" : " (" + live.pause_reason + ")") +
           "; put 'run' before this line";
  return "no run was started; put 'start-run' before this line";
}

// Why the capture that is shown will not get to `step` while nothing is under way; "" = it may.
std::string why_not_step(const Workspace& workspace, std::int32_t step) {
  const Document* const active = workspace.active();
  const LiveStatus& live = workspace.live();
  if (!active || workspace.documents.active_is_live()) {
    // What the run has done may not have been read yet.
    const bool recorded =
        active && live.next_tick > capture::make_tick(step, capture::Phase::kDraft);
    return recorded ? "" : why_it_stands(live);
  }
  // Another program may be recording it.
  if (active->capture->status() == capture::RunStatus::kRunning) return "";
  return "the capture ends with step " + std::to_string(active->capture->last_step());
}

// False while there is time left. Error{kIoError}: there is none.
bool is_over(const Script& script, const std::string& what, double waited) {
  if (waited <= kWaitSeconds) return false;
  throw Error(ErrorCode::kIoError, script.where() + ": still waiting for '" + what + "' after " +
                                       std::to_string(static_cast<int>(kWaitSeconds)) + " s");
}

bool wait(const Script& script, ScriptHost& host, const std::vector<std::string>& args) {
  const bool begins = host.waiting_since < 0;
  if (begins) host.waiting_since = host.seconds;
  const double waited = host.seconds - host.waiting_since;
  const std::string what = args.empty() ? "" : args[0];
  if (what == "ms" && args.size() == 2)
    return waited * 1000 >= static_cast<double>(number(script, args[1]));
  if (what == "file" && args.size() > 1) {
    std::error_code ignored;
    const std::string path =
        script.current().argument.substr(what.size() + 1);  // as it is, with spaces
    return std::filesystem::exists(path, ignored) || is_over(script, what, waited);
  }
  if (!host.workspace.log.problems.empty())
    refuse(script, "while waiting: " + host.workspace.log.problems.back());
  bool met = false;
  if (what == "idle") {
    met = host.workspace.idle();
  } else if (what == "done") {
    met = host.workspace.live().state == LiveState::kDone && host.workspace.idle();
    if (!met && host.workspace.idle())
      refuse(script, "wait done: " + why_it_stands(host.workspace.live()));
  } else if (what == "model") {
    const bool loaded = host.workspace.live().model.has_value();
    met = loaded && host.workspace.idle();
    // What else is under way (a prompt is counted before its model is loaded) loads nothing.
    if (host.workspace.run.idle() && !loaded) {
      // Nothing is loading: load the model that was named, on the command line for example.
      if (!begins || host.workspace.request().model.empty())
        refuse(script,
               "wait model: no model is loaded and none is being loaded; put 'model MODEL' before "
               "this line, or give --model on the command line");
      host.workspace.run.load_model();
    }
  } else if (what == "drawn") {
    met = !host.workspace.lesson.is_drawing();
  } else if (what == "step" && args.size() == 2) {
    const Document* active = host.workspace.active();
    const auto step = static_cast<std::int32_t>(number(script, args[1]));
    met = active && active->capture->last_step() >= step;
    if (!met && host.workspace.idle())
      if (const std::string why = why_not_step(host.workspace, step); !why.empty())
        refuse(script, "wait step " + args[1] + ": " + why);
  } else {
    refuse(script, "wait: expected step N, idle, done, model, drawn, file PATH or ms N");
  }
  return met || is_over(script, what, waited);
}

capture::Phase phase_from(const Script& script, const std::string& name) {
  if (const auto phase = capture::phase_from_string(name)) return *phase;
  refuse(script,
         "'" + name + "' is not a phase: expected draft, forward, accept, commit or observe");
}

std::string kinds() {
  std::string list;
  for (const BreakKind kind : all_break_kinds())
    list += (list.empty() ? "" : ", ") + std::string(script_name(kind));
  return list;
}

bool on_off(const Script& script, const std::string& text) {
  if (text != "on" && text != "off") refuse(script, "expected on or off, found '" + text + "'");
  return text == "on";
}

void run_verb(const Script& script, ScriptHost& host, const std::string& verb,
              const std::string& argument) {
  Workspace& workspace = host.workspace;
  const std::vector<std::string> args = words(argument);
  const auto need = [&](std::size_t count) {
    if (args.size() < count) refuse(script, verb + ": expected " + find_verb(verb)->arguments);
  };
  if (verb == "prompt") {
    workspace.request().prompt = argument;
    workspace.request().turns.clear();
    return;
  }
  if (verb == "system") {
    workspace.request().system = argument;
    return;
  }
  need(1);
  if (verb == "cursor") {
    const auto step = static_cast<std::int32_t>(number(script, args[0]));
    document(script, host);
    workspace.documents.set_cursor(capture::make_tick(
        step, args.size() > 1 ? phase_from(script, args[1]) : capture::Phase::kDraft));
  } else if (verb == "range") {
    Document& limited = document(script, host);
    if (args[0] == "all") return workspace.comparison.set_range_of(limited, std::nullopt);
    need(2);
    workspace.comparison.set_range_of(
        limited, std::minmax(static_cast<std::int32_t>(number(script, args[0])),
                             static_cast<std::int32_t>(number(script, args[1]))));
  } else if (verb == "focus") {
    document(script, host).focus.hovered = static_cast<std::int32_t>(number(script, args[0]));
  } else if (verb == "lock") {
    document(script, host);
    workspace.comparison.lock_focus(static_cast<std::int32_t>(number(script, args[0])));
  } else if (verb == "model") {
    workspace.request().model = argument;
    workspace.run.load_model();
  } else if (verb == "draft-model") {
    workspace.request().draft_model = argument;
  } else if (verb == "draft-device") {
    workspace.request().draft_device = argument == "same" ? "" : argument;
  } else if (verb == "method") {
    find_method(args[0]);
    workspace.request().method = args[0];
    workspace.request().settings = nlohmann::json::object();
  } else if (verb == "set") {
    const auto equals = argument.find('=');
    if (equals == std::string::npos)
      refuse(script, "set: expected name=value, found '" + argument + "'");
    workspace.request().settings[argument.substr(0, equals)] = argument.substr(equals + 1);
  } else if (verb == "chat") {
    workspace.request().chat = on_off(script, args[0]);
  } else if (verb == "messages") {
    take_conversation(workspace.request(), read_messages_file(argument), argument);
  } else if (verb == "prompt-is-ids") {
    workspace.request().prompt_is_ids = on_off(script, args[0]);
  } else if (verb == "max-new-tokens") {
    workspace.request().max_new_tokens = static_cast<int>(number(script, args[0]));
  } else if (verb == "seed") {
    workspace.request().seed = static_cast<std::uint64_t>(number(script, args[0]));
  } else if (verb == "open-file") {
    workspace.open_path(argument);
  } else if (verb == "save-file") {
    workspace.documents.save_as(argument);
  } else if (verb == "panel") {
    viz::make_panel(args[0]);  // a wrong name is refused with the names there are
    if (!workspace.show_panel(args[0]))
      refuse(script, "panel '" + args[0] + "' is not in this layout");
  } else if (verb == "panels") {
    for (const std::string& name : args) viz::make_panel(name);
    if (args.size() > 3) refuse(script, "panels: expected one to three; found " + argument);
    document(script, host);
    workspace.show_panels(args);
  } else if (verb == "lecture-panels") {
    if (!workspace.lecture.is_on()) refuse(script, "lecture mode is off: put 'lecture' before");
    if (args.size() > 2) refuse(script, "lecture-panels: expected one or two; found " + argument);
    workspace.lecture.set_panels(args);
  } else if (verb == "lesson") {
    workspace.lesson.open(argument);
  } else if (verb == "lesson-step") {
    const long long step = number(script, args[0]);
    if (!workspace.lesson.is_open()) refuse(script, "no lesson is open: put 'lesson NAME' before");
    if (step < 1 || step > static_cast<long long>(workspace.lesson.steps()))
      refuse(script, "the lesson has steps 1 to " + std::to_string(workspace.lesson.steps()) +
                         "; found " + args[0]);
    workspace.lesson.go_to(static_cast<std::size_t>(step - 1));
  } else if (verb == "maximise-panel") {
    viz::make_panel(args[0]);
    workspace.layouts.maximised = args[0];
  } else if (verb == "undock") {
    viz::make_panel(args[0]);
    host.ui.undock = args[0];
  } else if (verb == "layout") {
    workspace.use_layout(argument);
  } else if (verb == "save-layout") {
    workspace.layouts.save(argument);
  } else if (verb == "set-theme") {
    workspace.set_theme(viz::theme_name_from_string(args[0]));
  } else if (verb == "set-scale") {
    workspace.preferences.user_scale = std::stof(args[0]);
  } else if (verb == "size") {
    const auto x = args[0].find('x');
    if (x == std::string::npos) refuse(script, "size: expected WIDTHxHEIGHT");
    host.resize(static_cast<int>(number(script, args[0].substr(0, x))),
                static_cast<int>(number(script, args[0].substr(x + 1))));
  } else if (verb == "breakpoint") {
    Breakpoint point;
    if (!break_kind_from_name(args[0], point.kind))
      refuse(script, "there is no breakpoint of kind '" + args[0] + "'; kinds are " + kinds());
    // A space belongs to a text: what follows the one after the kind is taken as it is.
    const std::string rest = args.size() > 1 ? argument.substr(args[0].size() + 1) : "";
    if (needs_text(point.kind)) point.text = rest;
    if (needs_threshold(point.kind) && !rest.empty()) point.threshold = real_number(script, rest);
    auto points = workspace.run.breakpoints();
    points.push_back(point);
    workspace.run.set_breakpoints(std::move(points));
  } else if (verb == "find-text") {
    document(script, host);
    host.ui.find.query = argument;
    host.ui.find.open = true;
    host.ui.find.go(workspace, +1);
  } else if (verb == "play-speed") {
    workspace.transport.set_play_speed(real_number(script, args[0]));
  } else if (verb == "branch") {
    need(2);
    workspace.run.branch(static_cast<std::int32_t>(number(script, args[0])),
                         static_cast<std::int32_t>(number(script, args[1])));
  } else if (verb == "branch-with") {
    need(2);
    workspace.run.branch_with(static_cast<std::int32_t>(number(script, args[0])),
                              argument.substr(args[0].size() + 1));
  } else if (verb == "export-panel") {
    need(3);
    ExportJob job{args[0], args[2], viz::ExportFormat::kPng, workspace.theme()};
    if (args[1] == "gif")
      job.animation = Animation::kGif;
    else if (args[1] == "png-frames")
      job.animation = Animation::kPngFrames;
    else
      job.format = viz::export_format_from_string(args[1]);
    if (args.size() > 3) job.part = viz::export_part_from_string(args[3]);
    if (job.part == viz::ExportPart::kSeen) job.seen = host.ui.seen(job.panel, workspace, job.both);
    workspace.exports.start(job);
  } else if (verb == "export-handout") {
    workspace.exports.start_whole_run(WholeRun::kHandout, argument);
  } else if (verb == "export-data") {
    workspace.exports.start_whole_run(WholeRun::kData, argument);
  } else if (verb == "document" || verb == "compare") {
    const auto index = static_cast<std::size_t>(number(script, args[0]));
    if (index >= workspace.documents.all().size())
      refuse(script, "expected the index of an open capture, from 0; found " + args[0] + " (" +
                         counted(workspace.documents.all().size(), "capture") + " open)");
    Document* const chosen = workspace.documents.all()[index].get();
    if (verb == "document") return workspace.documents.activate(chosen);
    if (chosen == workspace.active())
      refuse(script, "compare: capture " + args[0] + " is the active one; name another");
    workspace.comparison.start(chosen);
  } else if (verb == "screenshot") {
    host.screenshot(argument);
  } else if (verb == "write-state") {
    host.write_state(argument);
  }
}

}  // namespace

Script::Script(const std::string& path, const CommandTable& commands) : path_(path) {
  std::istringstream file(read_text_file(path, "a script, one command a line"));
  std::string text;
  for (int line_number = 1; std::getline(file, text); ++line_number) {
    text = std::string(trimmed(text));
    if (text.empty() || text.starts_with('#')) continue;
    const auto space = text.find(' ');
    Line line{line_number, text.substr(0, space),
              space == std::string::npos ? "" : text.substr(space + 1)};
    if (!find_verb(line.verb) && !commands.find(line.verb)) {
      std::vector<std::string> known;
      for (const Verb& verb : kVerbs) known.emplace_back(verb.name);
      for (const Command& command : commands.all()) known.push_back(command.id);
      std::string list;
      for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
      throw Error(ErrorCode::kInvalidArgument,
                  path + ":" + std::to_string(line_number) + ": there is no command '" + line.verb +
                      "'; known are " + list + did_you_mean(line.verb, known));
    }
    lines_.push_back(std::move(line));
  }
}

std::string Script::where() const {
  if (finished()) return path_;
  return current().number == 0 ? "command line" : path_ + ":" + std::to_string(current().number);
}

bool run_script_line(Script& script, ScriptHost& host) {
  const Script::Line& line = script.current();
  if (line.verb == "wait") {
    if (!wait(script, host, words(line.argument))) return false;
    host.waiting_since = -1;
    return true;
  }
  if (find_verb(line.verb)) {
    try {
      run_verb(script, host, line.verb, line.argument);
    } catch (const Error& error) {
      const std::string what = error.what();
      if (what.starts_with(script.where())) throw;
      throw Error(error.code(), script.where() + ": " + what);
    }
    return true;
  }
  const Command* command = host.commands.find(line.verb);
  if (!command->is_enabled()) refuse(script, "'" + line.verb + "' is not possible now");
  command->run();
  return true;
}

}  // namespace triescope::app
