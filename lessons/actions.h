// Actions: the lines of a ```do block. A few of the window's script verbs (docs/script.md), those
// that set what is seen: each says a whole state, so that a step works from wherever one comes. An
// argument may hold expressions in braces: "lock {node(best, 3)}".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/expression.h"
#include "lessons/trace.h"

namespace triescope::lessons {

// Text with expressions in braces.
struct Filled {
  struct Piece {
    std::string text = {};                     // as it is, or
    std::vector<Expression> expressions = {};  // one, in its place
  };
  std::vector<Piece> pieces = {};
};
// Error{kCorruption}: an expression that is wrong, a brace without its partner.
Filled parse_filled(std::string_view text);
// For people: every value as `show` writes it. Errors: evaluate()'s.
std::string phrase(const Filled& filled, const Trace& trace,
                   std::string (*show)(const Value& value));
// For links and actions: numbers as whole ones, texts as they are. Error{kCorruption}: evaluate()'s.
std::string fill(const Filled& filled, const Trace& trace);

struct Action {
  std::string verb = {};
  Filled argument = {};
  int line = 0;
};

// That a lesson may show beside each other.
inline constexpr std::size_t kMostPanels = 3;

// Error{kCorruption}: "expected a step; found 'x'", `what` being "a step".
std::int32_t whole_number(const std::string& what, const std::string& text);

// The moment that a link to "STEP" or "STEP/PHASE" leads to: what the step, or the phase, has done is there.
// Error{kCorruption}: whole_number()'s.
capture::Tick tick_of_link(const std::string& target);

// The verbs there are, each with its arguments: {"cursor", "STEP [PHASE]"}.
struct ActionVerb {
  const char* name;
  const char* arguments;
};
const std::vector<ActionVerb>& action_verbs();

// "run", and "set-up", which leaves the start to the reader: of the lesson's run with settings changed.
bool starts_a_run(const Action& action);

// Error{kCorruption}: not one of the verbs, no argument.
Action parse_action(std::string_view text, int line);
// What the script runs: "12 accept". Error{kCorruption}: an argument that the run or the window does not
// have. `panels`: the names there are.
std::string resolve(const Action& action, const Trace& trace,
                    const std::vector<std::string>& panels);

}  // namespace triescope::lessons
