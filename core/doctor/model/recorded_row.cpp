#include "core/doctor/model/recorded_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace triescope::doctor {

std::vector<Cell> cells_of(const RunView& run, std::int32_t node) {
  std::vector<Cell> cells;
  const auto add = [&](std::int32_t token) {
    cells.push_back({.token = token, .position = static_cast<std::int32_t>(cells.size())});
  };
  for (const std::int32_t token : run.capture.run().prompt_tokens) add(token);
  if (node > 0)
    for (const std::int32_t one : run.capture.path_to(node)) add(run.at(one).token);
  return cells;
}

std::vector<float> log_softmax(std::span<const float> logits, double temperature) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const float logit : logits) most = std::max(most, logit / temperature);
  for (const float logit : logits) sum += std::exp(logit / temperature - most);
  const double log_sum = most + std::log(sum);
  std::vector<float> out;
  out.reserve(logits.size());
  for (const float logit : logits) out.push_back(static_cast<float>(logit / temperature - log_sum));
  return out;
}

double distance(const RecordedRow& row, std::span<const float> logprobs) {
  double most = 0;
  for (const capture::CandidateRow& candidate : row.best) {
    if (std::isnan(candidate.logprob)) continue;
    if (candidate.token < 0 || static_cast<std::size_t>(candidate.token) >= logprobs.size())
      return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(static_cast<double>(candidate.logprob) -
                                   logprobs[static_cast<std::size_t>(candidate.token)]));
  }
  return most;
}

}  // namespace triescope::doctor
