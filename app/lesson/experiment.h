// Draws what a lesson's experiment asks for, with the samplers and verification rules with which
// runs decode (core/verify), over one made-up step: a pending node whose row is p, and drafts drawn
// from q below it. Two rules are broken on purpose and exist only here:
//
//   take_all   every draft becomes text
//   redraw     a draft passes as in verify_chain; where it is refused, the token is drawn from p
//              again, not from what q left of p
//
// The same setup draws the same tokens on every machine (core/base/rng.h).
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "app/lesson/chi_square.h"
#include "lessons/check_lesson.h"
#include "lessons/experiment.h"

namespace triescope::app {

// Draws that are less probable than this by chance do not follow what they should.
inline constexpr double kDiffersBelow = 0.001;

struct ExperimentResult {
  std::vector<std::int64_t> counts;  // of each token, in the setup's order
  std::int64_t drafted = 0, accepted = 0;
  int levels = 1;  // drafts in a row
  ChiSquare chi;
  bool agrees() const { return chi.p >= kDiffersBelow; }
  double share(std::size_t token) const;  // the token's share of the draws
};

// The probability of each token in what should be drawn.
std::vector<double> expected_of(const lessons::ExperimentSetup& setup);
// Error{kCancelled}: `stop` was requested.
ExperimentResult run_experiment(const lessons::ExperimentSetup& setup, std::stop_token stop = {});

// A rule's way of drawing, and its outcome, each in a sentence.
const char* rule_words(const std::string& rule);
std::string verdict_words(const ExperimentResult& result);

// Draws every experiment of a lesson whose author stated the outcome, and returns those that turn
// out differently.
std::vector<lessons::Finding> check_experiments(const lessons::Lesson& lesson,
                                                const capture::Capture& capture,
                                                std::stop_token stop = {});

}  // namespace triescope::app
