#include "core/verify/beam_row.h"

#include <algorithm>
#include <vector>

#include "core/verify/beam_candidates.h"

namespace triescope {

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
