#include "lessons/experiment.h"

#include "core/base/error.h"

namespace triescope::lessons {
namespace {

// The values of all weights, scaled to sum to 1. `which` is "p" or "q".
std::vector<double> scaled(std::vector<double> weights, const char* which) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (!(sum > 0))
    throw Error(ErrorCode::kCorruption, std::string("experiment: expected a ") + which +
                                            " above 0 for some token; found none");
  for (double& weight : weights) weight /= sum;
  return weights;
}

double weight_of(const Expression& expression, const Trace& trace) {
  const double weight = evaluate_number(expression, trace);
  if (!(weight >= 0))
    throw Error(ErrorCode::kCorruption,
                "experiment: expected a probability, 0 or more; found " + value_text(weight));
  return weight;
}

}  // namespace

const std::vector<ExperimentRule>& experiment_rules() {
  static const std::vector<ExperimentRule> rules = {{"inverse_cdf", false},   {"gumbel_max", false},
                                                    {"gumbel_second", false}, {"chain", true, true},
                                                    {"block", true, true},    {"multi_round", true},
                                                    {"take_all", true},       {"redraw", true}};
  return rules;
}

int levels_of(const ExperimentSetup& setup) {
  for (const ExperimentRule& rule : experiment_rules())
    if (setup.rule == rule.name && rule.chain) return setup.drafts;
  return 1;
}

std::string_view refused_for_drawn(std::string_view rule) {
  if (rule != "greedy" && rule != "typical" && rule != "top_k") return {};
  return "expected chosen drafts, found drafts drawn at random, for which verify=sample is exact";
}

ExperimentSetup resolve_experiment(const Experiment& experiment, const Trace& trace) {
  ExperimentSetup setup{.rule = experiment.rule,
                        .drafts = experiment.drafts,
                        .draws = experiment.draws,
                        .seed = experiment.seed};
  std::vector<double> p, q;
  for (const Experiment::Token& token : experiment.tokens) {
    // A name that is a single value stays a value: a token keeps its space.
    const bool value = token.name.pieces.size() == 1 && !token.name.pieces[0].expressions.empty();
    setup.names.push_back(value ? evaluate(token.name.pieces[0].expressions[0], trace)
                                : Value(phrase(token.name, trace, value_text)));
    p.push_back(weight_of(token.p, trace));
    if (token.q) q.push_back(weight_of(*token.q, trace));
  }
  setup.p = scaled(std::move(p), "p");
  if (!q.empty()) setup.q = scaled(std::move(q), "q");
  return setup;
}

}  // namespace triescope::lessons
