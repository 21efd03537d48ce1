#include "core/accept/beam_candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/kernels/row_ops.h"

namespace triescope {

bool CandidateHeap::full() const {
  return joint_.full() && std::isfinite(joint_.best().back().score);
}

std::vector<BeamCandidate> CandidateHeap::best() const {
  std::vector<BeamCandidate> possible;
  for (const kernels::JointCandidate& c : joint_.best())
    if (c.score > -std::numeric_limits<float>::infinity())
      possible.push_back({c.score, c.value, c.row, c.token});
  return possible;
}

void finite_log_softmax(std::span<const float> logits, std::span<float> out) {
  const float log_sum = kernels::log_softmax(logits, out);
  if (!std::isfinite(log_sum))
    throw Error(ErrorCode::kCorruption,
                "accept: expected finite logits from the model; found a row whose sum of "
                "exponentials is " +
                    std::to_string(log_sum) +
                    ". The weights may be damaged, or the number type too narrow");
}

}  // namespace triescope
