#include "app/lesson/experiment.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/sampling/logits_processors.h"
#include "core/sampling/samplers.h"
#include "core/verify/verify.h"

namespace triescope::app {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr int kStopEvery = 256;  // draws

Distribution distribution_of(const std::vector<double>& probabilities) {
  Distribution d;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] <= 0) continue;
    d.tokens.push_back(static_cast<std::int32_t>(i));
    d.probabilities.push_back(static_cast<float>(probabilities[i]));
    d.scores.push_back(static_cast<float>(std::log(probabilities[i])));
  }
  return d;
}

std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities)  // log 0 is -infinity: impossible
    logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

Verification take_all(const VerifyInput& input) {
  Verification result;
  result.path.push_back(input.drafts_below(input.root).front());
  return result;
}

Verification redraw(const VerifyInput& input) {
  Verification result = verify_chain(input);
  if (result.path.empty())
    result.next_token = draw(input.rows.distribution(input.root), input.sampler, input.rng).token;
  return result;
}

VerifyRule rule_named(std::string_view name) {
  if (name == "chain") return verify_chain;
  if (name == "block") return verify_block;
  if (name == "multi_round") return verify_multi_round;
  if (name == "take_all") return take_all;
  if (name == "redraw") return redraw;
  return nullptr;
}

// One made-up step, which is thrown away after each draw. Every row of it is p, every draft comes from q.
class Drafted {
 public:
  explicit Drafted(const lessons::ExperimentSetup& setup, VerifyRule rule)
      : rule_(rule),
        levels_(lessons::levels_of(setup)),
        siblings_(setup.drafts / levels_),
        q_(distribution_of(setup.q)),
        row_(logits_of(setup.p)) {
    run_.prompt = prompt_;
    run_.vocab_size = static_cast<int>(setup.p.size());
    run_.max_new_tokens = levels_ + 2;  // the pending token, the drafts, and one behind them
  }

  // The first token behind the pending one that becomes text.
  std::int32_t draw_one(Rng& rng, ExperimentResult& result) {
    TokenTree tree(1);
    std::vector<NodeId> rows{
        tree.hang(TokenTree::root(), TokenId(0), capture::Source::kGreedy, 0).node};
    const NodeId root = rows[0];
    Proposals proposals;
    NodeId above = root;
    for (int level = 0; level < levels_; ++level)
      above = hang_below(above, tree, proposals, rows, rng);
    const LogitsFrom target([&](int) { return LogitsRow(row_); });
    const StepView view{.tree = tree,
                        .run = run_,
                        .rows = rows,
                        .frontier = {&root, 1},
                        .step = 1,
                        .computed = target,
                        .proposals = &proposals};
    ModelRows model(view, processors_, warpers_);
    const Verification verified = rule_({.view = view, .root = root, .rows = model, .rng = rng});
    result.drafted += static_cast<std::int64_t>(rows.size()) - 1;
    result.accepted += static_cast<std::int64_t>(verified.path.size());
    return verified.path.empty() ? verified.next_token : tree[verified.path[0]].token.value;
  }

 private:
  // Hangs different drafts below a node, drawn from q. Returns the last.
  NodeId hang_below(NodeId above, TokenTree& tree, Proposals& proposals, std::vector<NodeId>& rows,
                    Rng& rng) const {
    Proposal& proposal = proposals[above];
    proposal.q = q_;
    proposal.replacement = false;
    Distribution left = q_;
    for (int i = 0; i < siblings_; ++i) {
      const std::int32_t token = draw(left, Sampler::kSoftmax, rng).token;
      const Hung hung = tree.hang(above, TokenId(token), capture::Source::kDraft, kUnknown,
                                  q_.probability(token));
      proposal.draws.push_back(hung.node);
      rows.push_back(hung.node);
      if (left.size() == 1) break;
      left = without(left, token);
    }
    return rows.back();
  }

  const VerifyRule rule_;
  const int levels_, siblings_;
  const Distribution q_;
  const std::vector<float> row_;
  const std::vector<std::int32_t> prompt_{0};
  RunContext run_;
  const LogitsProcessors processors_{run_};
  const Warpers warpers_;
};

// The second largest of logit + noise. It draws the noise of the first again from the same numbers,
// without the winner.
std::size_t gumbel_second(std::span<const float> logits, Rng& rng) {
  Rng same = rng;
  std::vector<float> rest(logits.begin(), logits.end());
  rest[sample_gumbel_max(logits, rng)] = -std::numeric_limits<float>::infinity();
  return sample_gumbel_max(rest, same);
}

// The distribution of the second of two tokens that are drawn without replacement.
std::vector<double> second_of_two(const std::vector<double>& p) {
  std::vector<double> expected(p.size(), 0);
  for (std::size_t first = 0; first < p.size(); ++first)
    for (std::size_t second = 0; second < p.size() && p[first] < 1; ++second)
      if (second != first) expected[second] += p[first] * p[second] / (1 - p[first]);
  return expected;
}

}  // namespace

double ExperimentResult::share(std::size_t token) const {
  std::int64_t draws = 0;
  for (const std::int64_t count : counts) draws += count;
  return draws > 0 ? static_cast<double>(counts[token]) / static_cast<double>(draws) : 0;
}

std::vector<double> expected_of(const lessons::ExperimentSetup& setup) {
  return setup.rule == "gumbel_second" ? second_of_two(setup.p) : setup.p;
}

ExperimentResult run_experiment(const lessons::ExperimentSetup& setup, std::stop_token stop) {
  ExperimentResult result;
  result.levels = lessons::levels_of(setup);
  const bool second = setup.rule == "gumbel_second";
  result.counts.assign(setup.p.size(), 0);
  const std::vector<float> logits = logits_of(setup.p);
  const std::vector<float> weights(setup.p.begin(), setup.p.end());
  std::optional<Drafted> drafted;
  if (const VerifyRule rule = rule_named(setup.rule)) drafted.emplace(setup, rule);
  Rng rng(setup.seed);
  for (int i = 0; i < setup.draws; ++i) {
    if (i % kStopEvery == 0 && stop.stop_requested())
      throw Error(ErrorCode::kCancelled, "experiment cancelled");
    std::size_t token = 0;
    if (drafted)
      token = static_cast<std::size_t>(drafted->draw_one(rng, result));
    else if (second)
      token = gumbel_second(logits, rng);
    else if (setup.rule == "gumbel_max")
      token = sample_gumbel_max(logits, rng);
    else
      token = sample_inverse_cdf(weights, rng.uniform());
    ++result.counts[token];
  }
  result.chi = chi_square(result.counts, expected_of(setup));
  return result;
}

const char* rule_words(const std::string& rule) {
  static constexpr std::pair<std::string_view, const char*> kWords[] = {
      {"inverse_cdf", "One number u each: the token on whose stretch of the strip it falls."},
      {"gumbel_max", "Noise on every score each time: the token with the largest sum."},
      {"gumbel_second", "Noise on every score each time: the token with the second largest sum."},
      {"chain",
       "A draft from q; it passes with chance min(1, p/q), else a draw from what q left of p."},
      {"block",
       "Drafts from q in a row, judged as one: a good one makes up for a bad one before it; then a draw from "
       "what they left of p."},
      {"multi_round",
       "Several different drafts from q, tried in turn; if none passes, a draw from what they left of p."},
      {"take_all", "A draft from q, and no check at all."},
      {"redraw", "A draft from q; it passes with chance min(1, p/q), else a fresh draw from p."}};
  for (const auto& [name, words] : kWords)
    if (rule == name) return words;
  return "";
}

std::string verdict_words(const ExperimentResult& result) {
  if (!result.agrees())
    return "They differ: chance alone would put draws as far from what is expected in fewer than 1 of "
           "1,000 such experiments.";
  return "They agree: chance alone would put draws as far from what is expected, or farther, in " +
         std::to_string(std::lround(result.chi.p * 1000)) + " of 1,000 such experiments.";
}

std::vector<lessons::Finding> check_experiments(const lessons::Lesson& lesson,
                                                const capture::Capture& capture,
                                                std::stop_token stop) {
  std::vector<lessons::Finding> findings;
  for (const lessons::Step& step : lesson.steps)
    for (const lessons::Piece& piece : step.pieces) {
      const auto* const experiment = std::get_if<lessons::Experiment>(&piece);
      if (!experiment || !experiment->agrees) continue;
      std::optional<lessons::ExperimentSetup> setup;
      try {
        setup = resolve_experiment(*experiment, {capture});
      } catch (const Error&) {
        continue;  // check_lesson() says why
      }
      const ExperimentResult result = run_experiment(*setup, stop);
      if (result.agrees() == *experiment->agrees) continue;
      char figures[100];
      std::snprintf(figures, sizeof figures, "chi-square %.4g, %d degrees of freedom, p = %.2g",
                    result.chi.value, result.chi.degrees, result.chi.p);
      findings.push_back({experiment->line, std::string("the experiment was expected to ") +
                                                (*experiment->agrees ? "agree" : "differ") +
                                                "; it " + (result.agrees() ? "agrees" : "differs") +
                                                " (" + figures + ")"});
    }
  return findings;
}

}  // namespace triescope::app
