// Deterministic drafts, lossless: the drafter did not draw its tokens (n-grams, prompt lookup,
// top-k trees), so q = 1 on each of them. Draw y ~ p once per node and follow the child y if it is
// there; else emit y. The text is exactly what sampling would have given, and with the same random
// numbers the very same tokens: one draw per emitted token. (One draw per path instead of per node
// would favour tokens that start many paths.)
#include "core/accept/verify.h"

namespace triescope {

Verification verify_deterministic(const VerifyInput& input) {
  Verification result;
  NodeId v = input.root;
  while (!input.ends(v)) {
    const Distribution& p = input.rows.distribution(v);
    const Draw y = draw(p, input.sampler, input.rng);
    NodeId next;
    for (const NodeId draft : input.drafts_below(v)) {
      const std::int32_t token = input.tree()[draft].token.value;
      capture::VerdictRow row{
          .node = draft.value, .p = p.probability(token), .q = 1, .u = y.u, .reason = {}};
      if (token == y.token) {
        next = draft;
        row.verdict = capture::Verdict::kAccepted;
        row.reason = "the draw from p gave this token, p " + describe_number(y.p);
      } else {
        row.verdict = capture::Verdict::kRejected;
        row.replacement = y.token;
        row.reason = "the draw from p gave " + describe(y.token, y.p) + ", this has p " +
                     describe_number(row.p);
      }
      result.verdicts.push_back(std::move(row));
    }
    if (!next.valid()) {
      result.next_token = y.token;
      result.next_p = y.p;
      result.next_u = y.u;
      result.next_reason =
          input.sampler == Sampler::kGumbel
              ? "largest of logit + Gumbel noise, p " + describe_number(y.p)
              : "drawn from p with u " + describe_number(y.u) + ", p " + describe_number(y.p);
      break;
    }
    result.path.push_back(next);
    v = next;
  }
  return result;
}

}  // namespace triescope
