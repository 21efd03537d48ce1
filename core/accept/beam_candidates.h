// The best continuations over all beams: the top k of the flat list beams x vocabulary, by score
// descending, then flat index ascending (rules 3 and 9 of beam.h). Scores are fp32: score of the
// beam + log p of the token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/row_ops.h"

namespace triescope {

struct BeamCandidate {
  float score;        // of the beam with this token
  float logprob;      // of the token alone
  std::int32_t beam;  // index of its beam
  std::int32_t token;
};

// Keeps the best k of what it is shown. REQUIRES: rows come in order of their beam index.
// Impossible tokens (-infinity) are never candidates.
class CandidateHeap {
 public:
  explicit CandidateHeap(std::size_t k) : joint_(k) {}
  void add_row(std::int32_t beam, float beam_score, std::span<const float> logprobs) {  // [vocab]
    joint_.add_row(beam, beam_score, logprobs);
  }
  bool full() const;
  std::vector<BeamCandidate> best() const;  // best first

 private:
  kernels::JointTopK joint_;
};

// kernels::log_softmax() of a model's row [vocab]; out may be logits. Error{kCorruption}: NaN,
// +infinity, or nothing finite in it; what out holds then means nothing.
void finite_log_softmax(std::span<const float> logits, std::span<float> out);

}  // namespace triescope
