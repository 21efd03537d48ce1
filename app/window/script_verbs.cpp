#include "app/window/script_verbs.h"

#include <charconv>
#include <cmath>

#include "app/window/script_verb_table.h"
#include "core/base/error.h"
#include "core/base/words.h"

namespace triescope::app {
namespace {

template <class Number>
Number parsed_number(const std::string& text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    refuse_verb("expected a number, found '" + text + "'");
  return value;
}

const Verb* find_verb(const std::string& name) {
  for (const auto& table : {view_verbs(), run_verbs(), file_verbs()})
    for (const Verb& verb : table)
      if (name == verb.name) return &verb;
  return nullptr;
}

}  // namespace

void refuse_verb(const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); }

double real_number(const std::string& text) {
  const double value = parsed_number<double>(text);
  if (!std::isfinite(value)) refuse_verb("expected a number, found '" + text + "'");
  return value;
}

long long script_number(const std::string& text) { return parsed_number<long long>(text); }

Document& VerbCall::document() const {
  if (!workspace.active()) refuse_verb("no capture is open: start a run or open a file first");
  return *workspace.active();
}

std::int32_t VerbCall::number(std::size_t arg) const {
  return static_cast<std::int32_t>(script_number(args[arg]));
}

std::vector<std::string> script_verbs() {
  std::vector<std::string> names;
  for (const auto& table : {view_verbs(), run_verbs(), file_verbs()})
    for (const Verb& verb : table) names.emplace_back(verb.name);
  return names;
}

void run_command(const ScriptCommand& asked, ScriptHost& host) {
  if (const Verb* const verb = find_verb(asked.verb)) {
    const std::vector<std::string> args = words(asked.argument);
    if (args.size() < verb->least)
      refuse_verb(asked.verb + ": expected " + std::string(verb->arguments));
    return verb->run({host, asked.argument, args, host.workspace});
  }
  const Command* const command = host.commands.find(asked.verb);
  if (!command->is_enabled()) refuse_verb("'" + asked.verb + "' is not possible now");
  command->run();
}

}  // namespace triescope::app
