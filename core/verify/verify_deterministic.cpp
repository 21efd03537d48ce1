// Deterministic drafts, lossless: the drafter did not draw its tokens (n-grams, prompt lookup,
// top-k trees), so q = 1 for each. The rule draws y ~ p once at each node and follows the child y
// if it exists; else it emits y. The text is exactly what sampling would have given, and with the
// same random numbers it has the very same tokens: one draw for each emitted token. (One draw a
// path instead of a node would favour tokens that start many paths.)
#include "core/verify/verify.h"

namespace triescope {

using capture::Reason;

Verification verify_deterministic(const VerifyInput& input) {
  Verification result;
  NodeId v = input.root;
  while (!input.ends(v)) {
    const Distribution& p = input.rows.distribution(v);
    const Draw y = draw(p, input.sampler, input.rng);
    NodeId next;
    for (const NodeId draft : input.drafts_below(v)) {
      const std::int32_t token = input.tree()[draft].token.value;
      capture::VerdictRow row{.node = draft.value, .p = p.probability(token), .q = 1, .u = y.u};
      if (token == y.token) {
        next = draft;
        row.verdict = capture::Verdict::kAccepted;
        row.reason = Reason::kDrawIsThis;
      } else {
        row.verdict = capture::Verdict::kRejected;
        row.replacement = y.token;
        row.reason = Reason::kDrawIsAnother;
        row.value = y.p;
      }
      result.verdicts.push_back(row);
    }
    if (!next.valid()) {
      result.next_token = y.token;
      result.next_p = y.p;
      result.next_u = y.u;
      result.next_reason =
          input.sampler == Sampler::kGumbel ? Reason::kGumbelArgmax : Reason::kDrawn;
      break;
    }
    result.path.push_back(next);
    v = next;
  }
  return result;
}

}  // namespace triescope
