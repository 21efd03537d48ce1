// Actions: the lines of a ```do block. They are those of the window's script verbs (docs/script.md)
// that set what is seen. Each gives a complete state, so that a step works wherever the reader
// comes from. An argument may contain expressions in braces: "lock {node(best, 3)}".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/expression.h"
#include "lessons/trace.h"

namespace triescope::lessons {

// A piece of text with expressions in braces.
struct Filled {
  struct Piece {
    std::string text = {};                     // literal text, or
    std::vector<Expression> expressions = {};  // one expression in its place
  };
  std::vector<Piece> pieces = {};
};
// Error{kCorruption}: a wrong expression, or a brace without its partner.
Filled parse_filled(std::string_view text);
// For people: every value is written as `show` writes it. Errors: those of evaluate().
std::string phrase(const Filled& filled, const Trace& trace,
                   std::string (*show)(const Value& value));
// For links and actions: numbers are written as whole ones, texts unchanged. Error{kCorruption}: as
// evaluate().
std::string fill(const Filled& filled, const Trace& trace);

struct Action {
  std::string verb = {};
  Filled argument = {};
  int line = 0;
};

// How many panels a lesson may show side by side.
inline constexpr std::size_t kMostPanels = 3;

// Reads a whole number. Error{kCorruption}: "expected a step; found 'x'", where `what` is "a step".
std::int32_t whole_number(const std::string& what, const std::string& text);

// The moment to which a link to "STEP" or "STEP/PHASE" leads: behind the step, or the phase.
// Error{kCorruption}: as whole_number().
capture::Tick tick_of_link(const std::string& target);

// The known verbs with their arguments: {"cursor", "STEP [PHASE]"}.
struct ActionVerb {
  const char* name;
  const char* arguments;
};
const std::vector<ActionVerb>& action_verbs();

// Whether it is "beside", which shows another capture of the lesson's folder next to the lesson's run.
bool compares(const Action& action);

// Whether it is "run" or "set-up", which leaves the start to the reader: a run of the lesson with
// settings changed.
bool starts_a_run(const Action& action);

// Error{kCorruption}: an unknown verb, or no argument.
Action parse_action(std::string_view text, int line);
// The line that the script runs: "12 accept". Error{kCorruption}: an argument that the run or the
// window does not have. `panels`: the known names.
std::string resolve(const Action& action, const Trace& trace,
                    const std::vector<std::string>& panels);

}  // namespace triescope::lessons
