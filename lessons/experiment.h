// Experiment: a fenced block that draws one token many times by a rule of the program itself, from
// probabilities that the lesson gives or its run has, and holds what came out against what should have.
// Read here; drawn by app/run/experiment.h, which has the samplers and the verification rules. What
// comes of it stands in no file: it is drawn wherever it is shown and checked.
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

// Every way to draw that an experiment may name.
struct ExperimentRule {
  const char* name;
  bool drafts;  // it draws them from q first
};
const std::vector<ExperimentRule>& experiment_rules();
// Why a rule that runs verify chosen drafts by is none of them: an experiment draws its drafts. As a run
// refuses it for drawn drafts (core/accept/rule_table.h). "": it is not such a rule.
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
  Marked text = {};  // what is tried
  std::string rule = {};
  std::vector<Token> tokens = {};
  int drafts = 1;  // below one node
  int draws = 10000;
  std::uint64_t seed = 1;
  std::optional<bool> agrees = {};  // what the author says comes of it
  int line = 0;
};

// With its run's values: what is drawn. p and q sum to 1.
struct ExperimentSetup {
  std::string rule = {};
  std::vector<Value> names = {};       // of the tokens
  std::vector<double> p = {}, q = {};  // q: empty without drafts
  int drafts = 1, draws = 0;
  std::uint64_t seed = 0;
  bool operator==(const ExperimentSetup&) const = default;
};

// Error{kCorruption}: an expression has no value; a weight below 0, or none above it.
ExperimentSetup resolve_experiment(const Experiment& experiment, const Trace& trace);

}  // namespace triescope::lessons
