#include "viz/query/row_entropy.h"

#include <cmath>

namespace triescope::viz {

double entropy_of(std::span<const capture::CandidateRow> candidates) {
  double entropy = 0, rest = 1;
  for (const capture::CandidateRow& row : candidates) {
    const double p = std::exp(static_cast<double>(row.logprob));
    entropy -= p * static_cast<double>(row.logprob);
    rest -= p;
  }
  if (rest > 1e-9) entropy -= rest * std::log(rest);
  return entropy;
}

}  // namespace triescope::viz
