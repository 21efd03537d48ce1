// Medusa's heads: residual blocks on the target's final-normed state, then each head's own output
// head, or the target's.
#include <vector>

#include "core/model/heads/residual_block.h"
#include "core/model/heads/token_head_weights.h"
#include "core/model/heads/token_heads.h"

namespace triescope {
namespace {

class MedusaHeads final : public TokenHeads {
 public:
  MedusaHeads(HeadLoader& loader, Model& target) : pool_(loader.pool()) {
    for (const TokenHeadWeights<HeadLoader>& head : medusa_weights(loader))
      heads_.push_back({head.blocks, HeadOutput(loader, target, head.output)});
    one_output_ = share_output(heads_);
  }

  int count() const override { return static_cast<int>(heads_.size()); }
  bool reads_tokens() const override { return false; }

  std::span<const float> logits(int head, std::span<const float> state,
                                std::span<const std::int32_t>) override {
    return heads_.at(static_cast<std::size_t>(head)).output.logits(hidden(head, state));
  }

  ForwardOutput first_rows(int heads, std::span<const float> state, int best_tokens) override {
    if (!one_output_) return TokenHeads::first_rows(heads, state, best_tokens);
    all_.clear();
    for (int head = 0; head < heads; ++head) {
      const std::span<const float> x = hidden(head, state);
      all_.insert(all_.end(), x.begin(), x.end());
    }
    ForwardOutput output;
    output.logits = heads_[0].output.logits(all_);
    output.vocab_size = static_cast<int>(output.logits.size()) / heads;
    return output;
  }

 private:
  // The input of a head's output matrix; valid until the next call.
  std::span<const float> hidden(int head, std::span<const float> state) {
    x_.assign(state.begin(), state.end());
    for (const auto& block : heads_.at(static_cast<std::size_t>(head)).blocks)
      add_residual_block(*block, x_, branch_, pool_);
    return x_;
  }

  struct Head {
    std::vector<HeadLoader::Linear> blocks;
    HeadOutput output;
  };
  ThreadPool& pool_;
  std::vector<Head> heads_;
  bool one_output_;  // all heads share one output matrix
  std::vector<float> x_, branch_, all_;
};

}  // namespace

std::unique_ptr<TokenHeads> make_medusa_heads(HeadLoader& loader, Model& target) {
  return std::make_unique<MedusaHeads>(loader, target);
}

}  // namespace triescope
