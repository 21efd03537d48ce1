#include "lessons/actions.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "core/base/words.h"
#include "core/capture/phase_names.h"
#include "lessons/front_matter.h"

namespace triescope::lessons {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kCorruption, why); }

void check_step(const std::string& text, const capture::Capture& capture) {
  const std::int32_t step = whole_number("a step", text);
  // One more than the last step: behind the run's end.
  if (step < 0 || step > capture.last_step() + 1)
    refuse("there is no step " + text + "; the run has steps 0 to " +
           std::to_string(capture.last_step()));
}

void check_phase(const std::string& text) {
  if (!capture::phase_from_string(text))
    refuse("expected draft, forward, accept, commit or observe; found '" + text + "'" +
           did_you_mean(text, capture::phase_names()));
}

void check_node(const std::string& text, const capture::Capture& capture) {
  const std::int32_t node = whole_number("a node", text);
  const auto nodes = static_cast<std::int32_t>(capture.nodes().size());
  const auto prompt = static_cast<std::int32_t>(capture.run().prompt_tokens.size());
  if (node >= nodes || node < -1 - prompt)
    refuse("there is no node " + text + "; the run has nodes 0 to " + std::to_string(nodes - 1) +
           ", and -2 to " + std::to_string(-1 - prompt) + " for the prompt's tokens");
}

void check_change(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    refuse("expected NAME=VALUE, a setting that is another one than the lesson's run has; found '" +
           text + "'");
}

}  // namespace

bool compares(const Action& action) { return action.verb == "beside"; }

bool starts_a_run(const Action& action) { return action.verb == "run" || action.verb == "set-up"; }

std::int32_t whole_number(const std::string& what, const std::string& text) {
  std::int32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) refuse("expected " + what + "; found '" + text + "'");
  return value;
}

capture::Tick tick_of_link(const std::string& target) {
  const std::size_t slash = target.find('/');
  const std::int32_t step = whole_number("a step", target.substr(0, slash));
  if (slash != std::string::npos)
    if (const auto phase = capture::phase_from_string(target.substr(slash + 1)))
      return capture::make_tick(step, *phase) + 1;
  return capture::make_tick(step + 1, capture::Phase::kDraft);
}

Filled parse_filled(std::string_view text) {
  Filled filled;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open != 0) {
      const std::string_view plain = text.substr(0, open);
      if (plain.find('}') != std::string_view::npos)
        refuse("expected '{' before '}'; found '" + std::string(plain) + "'");
      filled.pieces.push_back({std::string(plain), {}});
      if (open == std::string_view::npos) break;
      text.remove_prefix(open);
      continue;
    }
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos)
      refuse("expected '}' after '{'; found '" + std::string(text.substr(0, 60)) + "'");
    filled.pieces.push_back({"", {Expression::parse(text.substr(1, close - 1))}});
    text.remove_prefix(close + 1);
  }
  return filled;
}

std::string fill(const Filled& filled, const Trace& trace) {
  std::string result;
  for (const Filled::Piece& piece : filled.pieces) {
    result += piece.text;
    for (const Expression& expression : piece.expressions) {
      const Value value = evaluate(expression, trace);
      if (const std::string* const text = std::get_if<std::string>(&value))
        result += *text;
      else
        result += std::to_string(evaluate_whole(expression, trace));
    }
  }
  return result;
}

std::string phrase(const Filled& filled, const Trace& trace,
                   std::string (*show)(const Value& value)) {
  std::string result;
  for (const Filled::Piece& piece : filled.pieces) {
    result += piece.text;
    for (const Expression& expression : piece.expressions)
      result += show(evaluate(expression, trace));
  }
  return result;
}

const std::vector<ActionVerb>& action_verbs() {
  static const std::vector<ActionVerb> verbs = {
      {"cursor", "STEP [draft|forward|accept|commit|observe]"},
      {"range", "FIRST LAST | all"},
      {"lock", "NODE"},
      {"panels", "NAME [NAME [NAME]]"},
      {"panel", "NAME"},
      {"maximise-panel", "NAME"},
      {"beside", "NAME.tscap"},
      {"set-up", "NAME=VALUE [NAME=VALUE …]"},
      {"run", "NAME=VALUE [NAME=VALUE …]"}};
  return verbs;
}

Action parse_action(std::string_view text, int line) {
  const std::size_t space = text.find(' ');
  Action action;
  action.line = line;
  action.verb = text.substr(0, space);
  std::vector<std::string> names;
  const ActionVerb* known = nullptr;
  for (const ActionVerb& verb : action_verbs()) {
    names.emplace_back(verb.name);
    if (action.verb == verb.name) known = &verb;
  }
  if (!known) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    refuse("a lesson cannot do '" + action.verb + "'; expected one of " + list +
           did_you_mean(action.verb, names));
  }
  if (space == std::string_view::npos)
    refuse(action.verb + ": expected " + known->arguments + "; found nothing");
  action.argument = parse_filled(text.substr(space + 1));
  return action;
}

std::string resolve(const Action& action, const Trace& trace,
                    const std::vector<std::string>& panels) {
  std::string argument = fill(action.argument, trace);
  const std::vector<std::string> args = words(argument);
  const auto need = [&](std::size_t least, std::size_t most) {
    if (args.size() >= least && args.size() <= most) return;
    for (const ActionVerb& verb : action_verbs())
      if (action.verb == verb.name)
        refuse(action.verb + ": expected " + verb.arguments + "; found '" + argument + "'");
  };
  if (action.verb == "cursor") {
    need(1, 2);
    check_step(args[0], trace.capture);
    if (args.size() > 1) check_phase(args[1]);
  } else if (action.verb == "range") {
    need(1, 2);
    if (args.size() == 1 && args[0] != "all") need(2, 2);
    if (args.size() == 2)
      for (const std::string& step : args) check_step(step, trace.capture);
  } else if (action.verb == "lock") {
    need(1, 1);
    check_node(args[0], trace.capture);
  } else if (compares(action)) {
    need(1, 1);
    if (!is_plain_file_name(args[0]) || !args[0].ends_with(".tscap"))
      refuse(
          "beside: expected the name of a .tscap file in the lesson's own folder, without a path; found '" +
          args[0] + "'");
  } else if (starts_a_run(action)) {
    for (const std::string& change : args) check_change(change);
  } else {
    need(1, action.verb == "panels" ? kMostPanels : 1);
    for (const std::string& panel : args)
      if (std::find(panels.begin(), panels.end(), panel) == panels.end())
        refuse("there is no panel '" + panel + "'" + did_you_mean(panel, panels));
  }
  return argument;
}

}  // namespace triescope::lessons
