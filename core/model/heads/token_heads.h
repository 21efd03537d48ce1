// TokenHeads: Medusa's and Hydra's draft heads, side by side. Head i drafts the token at position t
// + 2 + i from the target's state at position t; token t + 1 is known.
//
//   Medusa  x <- x + SiLU(W x + b), once a block, x = the state; then an output head
//   Hydra   x = (state, e(x_{t+1}), .., e(x_{t+1+i})), block 1 R x + SiLU(W x + b), rest as above
//
// Source: Cai et al., "Medusa", 2024, section 2.1; Ankner et al., "Hydra", 2024, section 3. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/model/heads/head_weights.h"
#include "core/model/model.h"

namespace triescope {

class TokenHeads {
 public:
  virtual ~TokenHeads() = default;
  virtual int count() const = 0;
  // Whether heads read the tokens drafted before them. Hydra's do and have a row for each path;
  // Medusa's do not, and one row serves a whole level.
  virtual bool reads_tokens() const = 0;
  // Logits [rows, vocab] of head `head`, fp32, in the target's ids; valid until the next call.
  // state: [hidden]. tokens: [rows, head + 1], the known token and those drafted after it. Medusa's
  // heads read no tokens and give one row.
  virtual std::span<const float> logits(int head, std::span<const float> state,
                                        std::span<const std::int32_t> tokens) = 0;
  // The same rows where they lie; ForwardBatch::best_tokens says how much of each is looked at.
  virtual ForwardOutput rows(int head, std::span<const float> state,
                             std::span<const std::int32_t> tokens, int best_tokens) {
    (void)best_tokens;
    ForwardOutput output;
    output.logits = logits(head, state, tokens);
    const std::size_t count =
        reads_tokens() ? tokens.size() / (static_cast<std::size_t>(head) + 1) : 1;
    output.vocab_size = static_cast<int>(output.logits.size() / count);
    return output;
  }
  // For heads that read no tokens: the rows of the first `heads` heads, in order, as rows() gives
  // each. An output matrix that they share is read once for all.
  virtual ForwardOutput first_rows(int heads, std::span<const float> state, int best_tokens);

 private:
  std::vector<float> joined_;  // [heads, vocab], for first_rows
};

// Both borrow the target and read the loader's file at once. Errors: those of HeadFile.
std::unique_ptr<TokenHeads> make_medusa_heads(HeadLoader& loader, Model& target);
std::unique_ptr<TokenHeads> make_hydra_heads(HeadLoader& loader, Model& target);

}  // namespace triescope
