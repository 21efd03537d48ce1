#include "core/verify/beam_candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

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

bool CandidateHeap::add_best(std::int32_t beam, float beam_score, const BestLogprobs& best) {
  if (!best.settles(k_, beam_score)) return false;
  auto by_token = best.tokens;
  std::ranges::sort(by_token, {}, &std::pair<float, std::int32_t>::second);
  joint_.add_values(beam, beam_score, by_token);
  return true;
}

namespace {

void check_finite(float log_sum) {
  if (!std::isfinite(log_sum))
    throw Error(ErrorCode::kCorruption,
                "accept: expected finite logits from the model; found a row whose sum of "
                "exponentials is " +
                    std::to_string(log_sum) +
                    ". The weights may be damaged, or the number type too narrow");
}

}  // namespace

bool BestLogprobs::settles(std::size_t count, float offset) const {
  if (all) return true;
  return count > 0 && count < tokens.size() &&
         offset + tokens[count - 1].first > offset + tokens.back().first;
}

BestLogprobs best_logprobs(const LogitsRow& row) {
  const auto known = row.known_best();
  BestLogprobs best{.tokens = {known.begin(), known.end()}, .all = known.size() == row.size()};
  if (known.empty()) return best;
  const float log_sum = row.log_sum_exp();
  check_finite(log_sum);
  for (auto& [logprob, token] : best.tokens) logprob -= log_sum;
  // Logits that differ may have been rounded to the same log-probability.
  std::ranges::sort(best.tokens, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return best;
}

void finite_log_softmax(std::span<const float> logits, std::span<float> out) {
  check_finite(kernels::log_softmax(logits, out));
}

void beam_logprobs(const StepView& view, int row, const LogitsProcessors& processors, bool one_beam,
                   std::span<float> out) {
  const std::span<const float> logits = view.logits(row).whole();
  if (!processors.any()) {
    finite_log_softmax(logits, out);
    return;
  }
  const NodeId node = view.rows[static_cast<std::size_t>(row)];
  std::vector<std::int32_t> tokens(view.run.prompt.begin(), view.run.prompt.end());
  for (const TokenId token : view.tree.tokens_to(node)) tokens.push_back(token.value);
  const int generated = view.tree[node].depth;
  if (one_beam) {
    std::ranges::copy(logits, out.begin());
    processors.apply(tokens, generated, out);
    finite_log_softmax(out, out);
  } else {
    finite_log_softmax(logits, out);
    processors.apply(tokens, generated, out);
  }
}

}  // namespace triescope
