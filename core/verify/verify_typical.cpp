// Typical acceptance, lossy: a draft x passes iff p(x) > min(epsilon, delta * e^(-H(p))), where H
// is the entropy of p. The longest path of passing drafts becomes text; the larger sum of log p
// wins ties. The token after it is drawn from p without the tokens below the same threshold.
// Source: Cai et al., "Medusa", 2024, section 2.3.1 and its published code (epsilon = 0.09, delta =
// 0.3).
#include <algorithm>
#include <cmath>

#include "core/verify/verify.h"

namespace triescope {

namespace {

using capture::Reason;

double typical_threshold(const Distribution& p, float epsilon, float delta) {
  double entropy = 0;
  for (const float x : p.probabilities)
    if (x > 0) entropy -= static_cast<double>(x) * std::log(static_cast<double>(x));
  return std::min(static_cast<double>(epsilon), delta * std::exp(-entropy));
}

}  // namespace

Verification verify_typical(const VerifyInput& input) {
  Verification result;
  const auto threshold_at = [&](NodeId node) {
    return typical_threshold(input.rows.distribution(node), input.typical_epsilon,
                             input.typical_delta);
  };
  result.path = longest_accepted_path(input, [&](NodeId draft) {
    const NodeId parent = input.tree()[draft].parent;
    return input.rows.distribution(parent).probability(input.tree()[draft].token.value) >
           threshold_at(parent);
  });

  std::vector<NodeId> walked = result.path;
  walked.insert(walked.begin(), input.root);
  for (const NodeId v : walked) {
    if (input.ends(v)) continue;
    const double threshold = threshold_at(v);
    for (const NodeId draft : input.drafts_below(v)) {
      const float p = input.rows.distribution(v).probability(input.tree()[draft].token.value);
      const bool on_path = std::ranges::find(result.path, draft) != result.path.end();
      capture::VerdictRow row{.node = draft.value, .p = p, .q = 1};
      row.verdict = on_path ? capture::Verdict::kAccepted : capture::Verdict::kRejected;
      row.reason = !(p > threshold) ? Reason::kNotTypical
                   : on_path        ? Reason::kTypical
                                    : Reason::kTypicalOffPath;
      row.threshold = static_cast<float>(threshold);
      result.verdicts.push_back(row);
    }
  }

  const NodeId last = walked.back();
  if (input.ends(last)) return result;
  const Distribution& p = input.rows.distribution(last);
  const double threshold = threshold_at(last);
  Distribution kept;
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p.probabilities[i] <= threshold) continue;
    kept.tokens.push_back(p.tokens[i]);
    kept.scores.push_back(p.scores[i]);
    kept.probabilities.push_back(p.probabilities[i]);
    sum += p.probabilities[i];
  }
  for (float& x : kept.probabilities) x = static_cast<float>(x / sum);
  const Draw y = draw(kept.tokens.empty() ? p : kept, input.sampler, input.rng);
  result.next_token = y.token;
  result.next_p = p.probability(y.token);
  result.next_u = y.u;
  result.next_reason = Reason::kDrawnFromTypical;
  for (auto& row : result.verdicts)
    if (row.verdict == capture::Verdict::kRejected && input.tree()[NodeId(row.node)].parent == last)
      row.replacement = y.token;
  if (!kept.tokens.empty()) result.drawn_from = std::move(kept);
  return result;
}

}  // namespace triescope
