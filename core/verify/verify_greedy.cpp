// Greedy tree verification: v <- root; t = argmax p(.|v). If v has a child t, it is emitted and
// becomes v; else t is emitted and the rule stops. The text is greedy decoding's, whatever was
// drafted. Source: Miao et al., "SpecInfer", 2024, section 4.3, greedy case.
#include "core/verify/verify.h"

namespace triescope {

using capture::Reason;

Verification verify_greedy(const VerifyInput& input) {
  Verification result;
  NodeId v = input.root;
  while (!input.ends(v)) {
    const std::int32_t t = input.rows.best(v);
    const float p = input.rows.probability(v, t);
    NodeId next;
    for (const NodeId draft : input.drafts_below(v)) {
      const std::int32_t token = input.tree()[draft].token.value;
      capture::VerdictRow row{.node = draft.value, .q = 1};
      if (token == t) {
        next = draft;
        row.verdict = capture::Verdict::kAccepted;
        row.p = p;
        row.rank = 0;
        row.reason = Reason::kIsArgmax;
      } else {
        row.verdict = capture::Verdict::kRejected;
        row.p = input.rows.probability(v, token);
        row.rank = input.rows.rank(v, token);
        row.replacement = t;
        row.reason = Reason::kNotArgmax;
        row.value = p;
      }
      result.verdicts.push_back(row);
    }
    if (!next.valid()) {
      result.next_token = t;
      result.next_p = p;
      result.next_reason = Reason::kArgmax;
      break;
    }
    result.path.push_back(next);
    v = next;
  }
  return result;
}

}  // namespace triescope
