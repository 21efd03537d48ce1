// The best continuations over all beams: the top k of the flat list beams x vocabulary, by score
// descending, then flat index ascending (rules 3 and 9 of beam.h). Scores are fp32: score of the
// beam + log p of the token.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/kernels/row_ops.h"
#include "core/model/logits_row.h"

namespace triescope {

struct BeamCandidate {
  float score;        // of the beam with this token
  float logprob;      // of the token alone
  std::int32_t beam;  // index of its beam
  std::int32_t token;
};

// The best tokens of a row and their log-probabilities: descending, ties: the lower token first.
struct BestLogprobs {
  std::vector<std::pair<float, std::int32_t>> tokens;
  bool all = false;  // of the row
  // The first `count` are the best ones, whatever the row's other tokens are: those have at most the
  // last one's log-probability, and rounding may make it equal to others.
  bool settles(std::size_t count, float offset = 0) const;
};
// Of a row that knows its best tokens; empty: it knows none. Error: finite_log_softmax()'s.
BestLogprobs best_logprobs(const LogitsRow& row);

// Keeps the best k of what it is shown. REQUIRES: rows come in order of their beam index.
// Impossible tokens (-infinity) are never candidates.
class CandidateHeap {
 public:
  explicit CandidateHeap(std::size_t k) : k_(k), joint_(k) {}
  void add_row(std::int32_t beam, float beam_score, std::span<const float> logprobs) {  // [vocab]
    joint_.add_row(beam, beam_score, logprobs);
  }
  // The same of a row whose best tokens are known; false: they do not settle what add_row() would
  // have found, and nothing was added.
  bool add_best(std::int32_t beam, float beam_score, const BestLogprobs& best);
  bool full() const;
  std::vector<BeamCandidate> best() const;  // best first

 private:
  std::size_t k_;
  kernels::JointTopK joint_;
};

// kernels::log_softmax() of a model's row [vocab]; out may be logits. Error{kCorruption}: NaN,
// +infinity, or nothing finite in it; what out holds then means nothing.
void finite_log_softmax(std::span<const float> logits, std::span<float> out);

}  // namespace triescope
