// Experiment: a fenced block that draws one token many times by one of the program's own rules,
// from probabilities that the lesson gives or its run has, and compares the outcome with what
// should have come out. It is read here and drawn by app/session/experiment.h, which has the samplers
// and the verification rules. No file contains the outcome: it is drawn wherever it is shown and
// checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/actions.h"
#include "lessons/markdown.h"
#include "lessons/trace.h"

namespace triescope::lessons {

// A way to draw that an experiment may name.
struct ExperimentRule {
  const char* name;
  bool drafts;         // whether it first draws drafts from q
  bool chain = false;  // whether several drafts stand in a row
};
const std::vector<ExperimentRule>& experiment_rules();
// Why an experiment may not name this rule, which verifies chosen drafts: an experiment draws its
// drafts. The reason is the one with which a run refuses it for drawn drafts
// (core/verify/rule_table.h). "": it is not such a rule.
std::string_view refused_for_drawn(std::string_view rule);

struct Experiment {
  static constexpr std::size_t kMostTokens = 12;
  static constexpr int kMostDraws = 100000, kMostDrafts = 4;

  struct Token {
    Filled name = {};
    Expression p = {};
    std::optional<Expression> q = {};
    int line = 0;
  };
  Marked text = {};  // what the experiment tries
  std::string rule = {};
  std::vector<Token> tokens = {};
  int drafts = 1;  // number in a row; for a rule of trees below one node
  int draws = 10000;
  std::uint64_t seed = 1;
  std::optional<bool> agrees = {};  // what the author says about the outcome
  int line = 0;
};

// The experiment with its run's values. p and q sum to 1.
struct ExperimentSetup {
  std::string rule = {};
  std::vector<Value> names = {};       // the tokens' names
  std::vector<double> p = {}, q = {};  // q is empty without drafts
  int drafts = 1, draws = 0;
  std::uint64_t seed = 0;
  bool operator==(const ExperimentSetup&) const = default;
};
// How many of the setup's drafts stand in a row: all where the rule judges a chain, else 1.
int levels_of(const ExperimentSetup& setup);

// Error{kCorruption}: an expression has no value, a weight is below 0, or none is above it.
ExperimentSetup resolve_experiment(const Experiment& experiment, const Trace& trace);

}  // namespace triescope::lessons
