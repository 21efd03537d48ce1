// Top-K acceptance, lossy: a draft passes iff it is among the K best tokens of its parent's row.
// The longest path of passing drafts becomes text; the likelier one wins ties. The token after it
// is the argmax. K = 1 is greedy verification.
#include <algorithm>

#include "core/verify/verify.h"

namespace triescope {

using capture::Reason;

Verification verify_top_k(const VerifyInput& input) {
  Verification result;
  result.path = longest_accepted_path(input, [&](NodeId draft) {
    return input.rows.rank(input.tree()[draft].parent, input.tree()[draft].token.value) <
           input.top_k;
  });

  std::vector<NodeId> walked = result.path;
  walked.insert(walked.begin(), input.root);
  const NodeId last = walked.back();
  if (!input.ends(last)) {
    result.next_token = input.rows.best(last);
    result.next_p = input.rows.probability(last, result.next_token);
    result.next_reason = Reason::kArgmax;
  }
  for (const NodeId v : walked) {
    if (input.ends(v)) continue;
    for (const NodeId draft : input.drafts_below(v)) {
      const std::int32_t token = input.tree()[draft].token.value;
      const bool on_path = std::ranges::find(result.path, draft) != result.path.end();
      capture::VerdictRow row{.node = draft.value, .p = input.rows.probability(v, token), .q = 1};
      row.rank = input.rows.rank(v, token);
      row.verdict = on_path ? capture::Verdict::kAccepted : capture::Verdict::kRejected;
      row.reason = row.rank >= input.top_k ? Reason::kNotInTopK
                   : on_path               ? Reason::kInTopK
                                           : Reason::kTopKOffPath;
      row.count = input.top_k;
      if (!on_path && v == last) row.replacement = result.next_token;
      result.verdicts.push_back(row);
    }
  }
  return result;
}

}  // namespace triescope
