#include "core/model/heads/token_heads.h"

namespace triescope {

ForwardOutput TokenHeads::first_rows(int heads, std::span<const float> state, int best_tokens) {
  (void)best_tokens;
  joined_.clear();
  for (int head = 0; head < heads; ++head) {
    const std::span<const float> row = logits(head, state, {});
    joined_.insert(joined_.end(), row.begin(), row.end());
  }
  ForwardOutput output;
  output.logits = joined_;
  output.vocab_size = static_cast<int>(joined_.size()) / heads;
  return output;
}

}  // namespace triescope
