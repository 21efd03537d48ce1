// Verbs about the run: what the run bar holds, breakpoints, playback, branches.
#include "app/window/script_verb_table.h"
#include "core/methods/registry.h"

namespace triescope::app {
namespace {

bool on_off(const std::string& text) {
  if (text != "on" && text != "off") refuse_verb("expected on or off, found '" + text + "'");
  return text == "on";
}

void choose_method(const VerbCall& call) {
  RunRequest& request = call.workspace.request();
  find_method(call.args[0]);
  request.method = call.args[0];
  request.settings = nlohmann::json::object();
}

void set_parameter(const VerbCall& call) {
  const auto equals = call.argument.find('=');
  if (equals == std::string::npos)
    refuse_verb("set: expected name=value, found '" + call.argument + "'");
  call.workspace.request().settings[call.argument.substr(0, equals)] =
      call.argument.substr(equals + 1);
}

std::string kinds_of_breakpoints() {
  std::string list;
  for (const BreakKind kind : all_break_kinds())
    list += (list.empty() ? "" : ", ") + std::string(script_name(kind));
  return list;
}

void add_breakpoint(const VerbCall& call) {
  Breakpoint point;
  if (!break_kind_from_name(call.args[0], point.kind))
    refuse_verb("there is no breakpoint of kind '" + call.args[0] + "'; kinds are " +
                kinds_of_breakpoints());
  // A text may hold spaces, so everything after the kind and one space is taken.
  const std::string rest =
      call.args.size() > 1 ? call.argument.substr(call.args[0].size() + 1) : "";
  if (needs_text(point.kind)) point.text = rest;
  if (needs_threshold(point.kind) && !rest.empty()) point.threshold = real_number(rest);
  auto points = call.workspace.run.breakpoints();
  points.push_back(point);
  call.workspace.run.set_breakpoints(std::move(points));
}

}  // namespace

std::span<const Verb> run_verbs() {
  using Call = const VerbCall&;
  static constexpr Verb kVerbs[] = {
      {"model", "MODEL", 1,
       [](Call call) {
         call.workspace.request().model = call.argument;
         call.workspace.run.load_model();
       }},
      {"draft-model", "MODEL", 1,
       [](Call call) { call.workspace.request().draft_model = call.argument; }},
      {"draft-device", "DEVICE, or same", 1,
       [](Call call) {
         call.workspace.request().draft_device = call.argument == "same" ? "" : call.argument;
       }},
      {"method", "NAME", 1, choose_method},
      {"set", "name=value", 1, set_parameter},
      {"prompt", "TEXT", 0,
       [](Call call) {
         call.workspace.request().prompt = call.argument;
         call.workspace.request().turns.clear();
       }},
      {"system", "TEXT", 0, [](Call call) { call.workspace.request().system = call.argument; }},
      {"messages", "FILE.json", 1,
       [](Call call) {
         take_conversation(call.workspace.request(), read_messages_file(call.argument),
                           call.argument);
       }},
      {"chat", "on|off", 1,
       [](Call call) { call.workspace.request().chat = on_off(call.args[0]); }},
      {"prompt-is-ids", "on|off", 1,
       [](Call call) { call.workspace.request().prompt_is_ids = on_off(call.args[0]); }},
      {"max-new-tokens", "N", 1,
       [](Call call) { call.workspace.request().max_new_tokens = call.number(0); }},
      {"seed", "N", 1,
       [](Call call) {
         call.workspace.request().seed = static_cast<std::uint64_t>(script_number(call.args[0]));
       }},
      {"breakpoint", "KIND [N or TEXT]", 1, add_breakpoint},
      {"play-speed", "FACTOR", 1,
       [](Call call) { call.workspace.transport.set_play_speed(real_number(call.args[0])); }},
      {"branch", "NODE TOKEN", 2,
       [](Call call) { call.workspace.run.branch(call.number(0), call.number(1)); }},
      {"branch-with", "NODE TEXT", 2,
       [](Call call) {
         call.workspace.run.branch_with(call.number(0),
                                        call.argument.substr(call.args[0].size() + 1));
       }},
  };
  return kVerbs;
}

}  // namespace triescope::app
