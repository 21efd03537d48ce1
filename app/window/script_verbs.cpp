#include "app/window/script_verbs.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/window/workspace/user_scale.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/capture/phase_names.h"
#include "core/methods/registry.h"

namespace triescope::app {
namespace {

struct Verb {
  const char* name;
  const char* arguments;  // for messages; "" = none
};
constexpr Verb kVerbs[] = {
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

[[noreturn]] void refuse_verb(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, why);
}

double real_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    refuse_verb("expected a number, found '" + text + "'");
  return value;
}

Document& document(ScriptHost& host) {
  if (!host.workspace.active()) refuse_verb("no capture is open: start a run or open a file first");
  return *host.workspace.active();
}

capture::Phase phase_from(const std::string& name) {
  if (const auto phase = capture::phase_from_string(name)) return *phase;
  refuse_verb("'" + name + "' is not a phase: expected draft, forward, accept, commit or observe");
}

std::string kinds() {
  std::string list;
  for (const BreakKind kind : all_break_kinds())
    list += (list.empty() ? "" : ", ") + std::string(script_name(kind));
  return list;
}

bool on_off(const std::string& text) {
  if (text != "on" && text != "off") refuse_verb("expected on or off, found '" + text + "'");
  return text == "on";
}

void run_verb(ScriptHost& host, const std::string& verb, const std::string& argument) {
  Workspace& workspace = host.workspace;
  const std::vector<std::string> args = words(argument);
  const auto need = [&](std::size_t count) {
    if (args.size() < count) refuse_verb(verb + ": expected " + find_verb(verb)->arguments);
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
    const auto step = static_cast<std::int32_t>(script_number(args[0]));
    document(host);
    workspace.documents.set_cursor(
        capture::make_tick(step, args.size() > 1 ? phase_from(args[1]) : capture::Phase::kDraft));
  } else if (verb == "range") {
    Document& limited = document(host);
    if (args[0] == "all") return workspace.comparison.set_range_of(limited, std::nullopt);
    need(2);
    workspace.comparison.set_range_of(
        limited, std::minmax(static_cast<std::int32_t>(script_number(args[0])),
                             static_cast<std::int32_t>(script_number(args[1]))));
  } else if (verb == "focus") {
    document(host).focus.hovered = static_cast<std::int32_t>(script_number(args[0]));
  } else if (verb == "lock") {
    document(host);
    workspace.comparison.lock_focus(static_cast<std::int32_t>(script_number(args[0])));
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
      refuse_verb("set: expected name=value, found '" + argument + "'");
    workspace.request().settings[argument.substr(0, equals)] = argument.substr(equals + 1);
  } else if (verb == "chat") {
    workspace.request().chat = on_off(args[0]);
  } else if (verb == "messages") {
    take_conversation(workspace.request(), read_messages_file(argument), argument);
  } else if (verb == "prompt-is-ids") {
    workspace.request().prompt_is_ids = on_off(args[0]);
  } else if (verb == "max-new-tokens") {
    workspace.request().max_new_tokens = static_cast<int>(script_number(args[0]));
  } else if (verb == "seed") {
    workspace.request().seed = static_cast<std::uint64_t>(script_number(args[0]));
  } else if (verb == "open-file") {
    workspace.open_path(argument);
  } else if (verb == "save-file") {
    workspace.documents.save_as(argument);
  } else if (verb == "panel") {
    viz::make_panel(args[0]);  // refuses a wrong name with a list of the names
    if (!workspace.show_panel(args[0]))
      refuse_verb("panel '" + args[0] + "' is not in this layout");
  } else if (verb == "panels") {
    for (const std::string& name : args) viz::make_panel(name);
    if (args.size() > 3) refuse_verb("panels: expected one to three; found " + argument);
    document(host);
    workspace.show_panels(args);
  } else if (verb == "lecture-panels") {
    if (!workspace.lecture.is_on()) refuse_verb("lecture mode is off: put 'lecture' before");
    if (args.size() > 2) refuse_verb("lecture-panels: expected one or two; found " + argument);
    workspace.lecture.set_panels(args);
  } else if (verb == "lesson") {
    workspace.lesson.open(argument);
  } else if (verb == "lesson-step") {
    const long long step = script_number(args[0]);
    if (!workspace.lesson.is_open()) refuse_verb("no lesson is open: put 'lesson NAME' before");
    if (step < 1 || step > static_cast<long long>(workspace.lesson.steps()))
      refuse_verb("the lesson has steps 1 to " + std::to_string(workspace.lesson.steps()) +
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
    const auto scale = static_cast<float>(real_number(args[0]));
    if (scale < kLeastUserScale || scale > kMostUserScale)
      refuse_verb("expected a factor from 0.5 to 4, found '" + args[0] + "'");
    workspace.preferences.user_scale = scale;
  } else if (verb == "size") {
    const auto x = args[0].find('x');
    if (x == std::string::npos) refuse_verb("size: expected WIDTHxHEIGHT");
    host.resize(static_cast<int>(script_number(args[0].substr(0, x))),
                static_cast<int>(script_number(args[0].substr(x + 1))));
  } else if (verb == "breakpoint") {
    Breakpoint point;
    if (!break_kind_from_name(args[0], point.kind))
      refuse_verb("there is no breakpoint of kind '" + args[0] + "'; kinds are " + kinds());
    // A text may hold spaces, so everything after the kind and one space is taken.
    const std::string rest = args.size() > 1 ? argument.substr(args[0].size() + 1) : "";
    if (needs_text(point.kind)) point.text = rest;
    if (needs_threshold(point.kind) && !rest.empty()) point.threshold = real_number(rest);
    auto points = workspace.run.breakpoints();
    points.push_back(point);
    workspace.run.set_breakpoints(std::move(points));
  } else if (verb == "find-text") {
    document(host);
    host.ui.find.query = argument;
    host.ui.find.open = true;
    host.ui.find.go(workspace, +1);
  } else if (verb == "play-speed") {
    workspace.transport.set_play_speed(real_number(args[0]));
  } else if (verb == "branch") {
    need(2);
    workspace.run.branch(static_cast<std::int32_t>(script_number(args[0])),
                         static_cast<std::int32_t>(script_number(args[1])));
  } else if (verb == "branch-with") {
    need(2);
    workspace.run.branch_with(static_cast<std::int32_t>(script_number(args[0])),
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
    const auto index = static_cast<std::size_t>(script_number(args[0]));
    if (index >= workspace.documents.all().size())
      refuse_verb("expected the index of an open capture, from 0; found " + args[0] + " (" +
                  counted(workspace.documents.all().size(), "capture") + " open)");
    Document* const chosen = workspace.documents.all()[index].get();
    if (verb == "document") return workspace.documents.activate(chosen);
    if (chosen == workspace.active())
      refuse_verb("compare: capture " + args[0] + " is the active one; name another");
    workspace.comparison.start(chosen);
  } else if (verb == "screenshot") {
    host.screenshot(argument);
  } else if (verb == "write-state") {
    host.write_state(argument);
  }
}

}  // namespace

long long script_number(const std::string& text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    refuse_verb("expected a number, found '" + text + "'");
  return value;
}

std::vector<std::string> script_verbs() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  return names;
}

void run_command(const ScriptCommand& asked, ScriptHost& host) {
  if (find_verb(asked.verb)) return run_verb(host, asked.verb, asked.argument);
  const Command* const command = host.commands.find(asked.verb);
  if (!command->is_enabled()) refuse_verb("'" + asked.verb + "' is not possible now");
  command->run();
}

}  // namespace triescope::app
