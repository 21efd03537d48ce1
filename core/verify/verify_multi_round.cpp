// Multi-round tree verification, lossless. At each node r <- p; each child in draw order is
// accepted with probability min(1, r(x)/q(x)), else r <- norm(max(0, r - q)); if none is accepted,
// y ~ r. Where drafts were drawn without replacement, a refused x also leaves q: q <- norm(q
// without x). A token drawn twice is tried twice (its second try always fails, but r must lose q
// again). Without a proposal each draft is deterministic, q = 1. Source: Miao et al., "SpecInfer",
// 2024, Algorithm 2 (with replacement); Jeon et al., "Recursive Speculative Decoding", 2024, and
// Yang et al., "Multi-Candidate Speculative Decoding", 2024 (without).
#include <algorithm>
#include <utility>

#include "core/verify/verify.h"

namespace triescope {

using capture::Reason;

Verification verify_multi_round(const VerifyInput& input) {
  Verification result;
  NodeId v = input.root;
  while (!input.ends(v)) {
    const Proposal* proposal = input.view.proposal(v);
    const std::vector<NodeId> draws = proposal ? proposal->draws : input.drafts_below(v);
    Distribution r = input.rows.distribution(v);
    Distribution q;
    if (proposal) q = proposal->q;
    NodeId next;
    for (const NodeId draft : draws) {
      const std::int32_t token = input.tree()[draft].token.value;
      if (!proposal) q = Distribution{{token}, {0.0f}, {1.0f}};
      const float r_x = r.probability(token), q_x = q.probability(token);
      const double u = input.rng.uniform();
      const double chance = q_x > 0 ? std::min(1.0, static_cast<double>(r_x) / q_x) : 0.0;
      capture::VerdictRow row{.node = draft.value,
                              .p = r_x,
                              .q = q_x,
                              .u = static_cast<float>(u),
                              .threshold = static_cast<float>(chance)};
      const bool accepted = u < chance;
      row.verdict = accepted ? capture::Verdict::kAccepted : capture::Verdict::kRejected;
      row.reason = accepted ? Reason::kBelowRest : Reason::kNotBelowRest;
      result.verdicts.push_back(row);
      if (accepted) {
        next = draft;
        break;
      }
      r = residual(r, q);
      if (proposal && !proposal->replacement) q = without(q, token);
    }
    if (!next.valid()) {
      const Draw y = draw(r, input.sampler, input.rng);
      result.next_token = y.token;
      result.next_p = y.p;
      result.next_u = y.u;
      result.next_reason = draws.empty() ? Reason::kDrawn : Reason::kDrawnFromRest;
      for (auto& row : result.verdicts)
        if (input.tree()[NodeId(row.node)].parent == v) row.replacement = y.token;
      if (!draws.empty()) result.drawn_from = std::move(r);
      break;
    }
    result.path.push_back(next);
    v = next;
  }
  return result;
}

}  // namespace triescope
