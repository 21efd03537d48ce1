// Functions that the verification rules share.
#include "core/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/sampling/samplers.h"

namespace triescope {

bool VerifyInput::ends(NodeId node) const {
  const Node& n = view.tree[node];
  return n.depth >= 1 && (view.run.is_eos(n.token.value) || n.depth >= view.run.max_new_tokens);
}

std::vector<NodeId> drafts_below(const TokenTree& tree, const ModelRows& rows, NodeId node) {
  std::vector<NodeId> drafts;
  for (NodeId child = tree[node].first_child; child.valid(); child = tree[child].next_sibling)
    if (!tree[child].is_probe() && tree[child].status != NodeStatus::kDead && rows.has(child))
      drafts.push_back(child);
  return drafts;
}

Draw draw(const Distribution& distribution, Sampler sampler, Rng& rng) {
  Draw result;
  std::size_t at = 0;
  if (sampler == Sampler::kGumbel) {
    at = sample_gumbel_max(distribution.scores, rng);
  } else {
    const double u = rng.uniform();
    result.u = static_cast<float>(u);
    at = sample_inverse_cdf(distribution.probabilities, u);
  }
  result.token = distribution.tokens[at];
  result.p = distribution.probabilities[at];
  return result;
}

Distribution residual(const Distribution& p, const Distribution& q, double scale) {
  Distribution r;
  std::vector<double> left;
  double sum = 0;
  std::size_t j = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    while (j < q.size() && q.tokens[j] < p.tokens[i]) ++j;
    const float taken = j < q.size() && q.tokens[j] == p.tokens[i] ? q.probabilities[j] : 0.0f;
    const double rest = scale * static_cast<double>(p.probabilities[i]) - taken;
    if (rest <= 0) continue;
    r.tokens.push_back(p.tokens[i]);
    left.push_back(rest);
    sum += rest;
  }
  if (r.tokens.empty()) return p;
  for (const double rest : left) {
    r.probabilities.push_back(static_cast<float>(rest / sum));
    r.scores.push_back(static_cast<float>(std::log(rest / sum)));
  }
  return r;
}

Distribution without(const Distribution& q, std::int32_t token) {
  Distribution rest;
  double sum = 0;
  for (std::size_t i = 0; i < q.size(); ++i)
    if (q.tokens[i] != token) sum += q.probabilities[i];
  if (sum <= 0) return q;
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (q.tokens[i] == token) continue;
    rest.tokens.push_back(q.tokens[i]);
    rest.probabilities.push_back(static_cast<float>(q.probabilities[i] / sum));
    rest.scores.push_back(std::log(rest.probabilities.back()));
  }
  return rest;
}

std::vector<NodeId> longest_accepted_path(const VerifyInput& input,
                                          const std::function<bool(NodeId)>& accepted) {
  struct Reached {
    NodeId node;
    int length;
    double log_p;
  };
  Reached best{input.root, 0, 0};
  std::vector<Reached> open{best};
  while (!open.empty()) {
    const Reached at = open.back();
    open.pop_back();
    if (at.length > best.length || (at.length == best.length && at.log_p > best.log_p)) best = at;
    if (input.ends(at.node)) continue;
    auto drafts = input.drafts_below(at.node);
    std::ranges::reverse(drafts);  // a stack: the first drawn is checked first
    for (const NodeId draft : drafts) {
      if (!accepted(draft)) continue;
      const float p = input.rows.probability(at.node, input.tree()[draft].token.value);
      open.push_back({draft, at.length + 1, at.log_p + std::log(static_cast<double>(p))});
    }
  }
  std::vector<NodeId> path;
  for (NodeId node = best.node; node != input.root; node = input.tree()[node].parent)
    path.push_back(node);
  std::ranges::reverse(path);
  return path;
}

}  // namespace triescope
