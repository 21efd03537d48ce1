#include "core/accept/beam_candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/kernels/row_ops.h"

namespace triescope {

void CandidateHeap::add_row(std::int32_t beam, float beam_score, std::span<const float> logprobs) {
  if (k_ == 0) return;
  // A row is long and k short: most tokens lose against the k-th best and cost one comparison.
  float bar = full() ? best_.back().score : -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < logprobs.size(); ++i) {
    const float score = beam_score + logprobs[i];
    if (!(score > bar)) continue;  // equal ones come later in the flat list
    const auto at = std::upper_bound(best_.begin(), best_.end(), score,
                                     [](float s, const BeamCandidate& c) { return s > c.score; });
    best_.insert(at, {score, logprobs[i], beam, static_cast<std::int32_t>(i)});
    if (best_.size() > k_) best_.pop_back();
    if (full()) bar = best_.back().score;
  }
}

void finite_log_softmax(std::span<const float> logits, std::span<float> out) {
  const float log_sum = kernels::log_sum_exp(logits);
  if (!std::isfinite(log_sum))
    throw Error(ErrorCode::kCorruption,
                "accept: expected finite logits from the model; found a row whose sum of "
                "exponentials is " +
                    std::to_string(log_sum) +
                    ". The weights may be damaged, or the number type too narrow");
  for (std::size_t i = 0; i < logits.size(); ++i) out[i] = logits[i] - log_sum;
}

}  // namespace triescope
