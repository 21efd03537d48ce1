// The best continuations over all beams: the top k of the flat list beams x vocabulary, by score
// descending, then flat index ascending (rules 3 and 9 of beam.h). Scores are fp32: the beam's
// score + log p of the token.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/kernels/row_ops.h"
#include "core/method/step_view.h"
#include "core/model/logits_row.h"
#include "core/sampling/logits_processors.h"

namespace triescope {

struct BeamCandidate {
  float score;        // the beam's with this token
  float logprob;      // the token's alone
  std::int32_t beam;  // index of its beam
  std::int32_t token;
};

// A row's best tokens and their log-probabilities, descending; of equal ones the lower token first.
struct BestLogprobs {
  std::vector<std::pair<float, std::int32_t>> tokens;
  bool all = false;  // these are all tokens of the row
  // Whether the first `count` are the best, whatever the row's other tokens are: those have at most
  // the last one's log-probability, and rounding may make it equal to others.
  bool settles(std::size_t count, float offset = 0) const;
};
// From a row that knows its best tokens; empty: it knows none. Errors: those of
// finite_log_softmax().
BestLogprobs best_logprobs(const LogitsRow& row);

// Keeps the best k of the candidates that it is given. REQUIRES: rows come in order of their beam
// index. Impossible tokens (-infinity) are never candidates.
class CandidateHeap {
 public:
  explicit CandidateHeap(std::size_t k) : k_(k), joint_(k) {}
  void add_row(std::int32_t beam, float beam_score, std::span<const float> logprobs) {  // [vocab]
    joint_.add_row(beam, beam_score, logprobs);
  }
  // The same for a row whose best tokens are known. False: they do not determine what add_row()
  // would have found, and nothing was added.
  bool add_best(std::int32_t beam, float beam_score, const BestLogprobs& best);
  bool full() const;
  std::vector<BeamCandidate> best() const;  // best first

 private:
  std::size_t k_;
  kernels::JointTopK joint_;
};

// kernels::log_softmax() of a model's row [vocab]; `out` may be `logits`. Error{kCorruption}: the
// row has NaN, +infinity or nothing finite; the contents of `out` are then undefined.
void finite_log_softmax(std::span<const float> logits, std::span<float> out);

// A row of the target as a search over beams sees it: log-softmax of fp32 logits, then the logits processors
// (rule 1 of beam.h). With one beam the processors come first, as in greedy decoding.
// `out`: [vocab]. Errors: those of finite_log_softmax().
void beam_logprobs(const StepView& view, int row, const LogitsProcessors& processors, bool one_beam,
                   std::span<float> out);

}  // namespace triescope
