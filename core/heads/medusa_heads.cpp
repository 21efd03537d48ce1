// Medusa's heads: residual blocks on the target's final-normed state, then an output head each, or
// the target's.
#include <vector>

#include "core/heads/residual_block.h"
#include "core/heads/token_head_weights.h"
#include "core/heads/token_heads.h"

namespace triescope {
namespace {

class MedusaHeads final : public TokenHeads {
 public:
  MedusaHeads(HeadLoader& loader, Model& target) : pool_(loader.pool()) {
    for (const TokenHeadWeights<HeadLoader>& head : medusa_weights(loader))
      heads_.push_back({head.blocks, HeadOutput(loader, target, head.output)});
  }

  int count() const override { return static_cast<int>(heads_.size()); }
  bool reads_tokens() const override { return false; }

  std::span<const float> logits(int head, std::span<const float> state,
                                std::span<const std::int32_t>) override {
    Head& of = heads_.at(static_cast<std::size_t>(head));
    x_.assign(state.begin(), state.end());
    for (const auto& block : of.blocks) add_residual_block(*block, x_, branch_, pool_);
    return of.output.logits(x_);
  }

 private:
  struct Head {
    std::vector<HeadLoader::Linear> blocks;
    HeadOutput output;
  };
  ThreadPool& pool_;
  std::vector<Head> heads_;
  std::vector<float> x_, branch_;
};

}  // namespace

std::unique_ptr<TokenHeads> make_medusa_heads(HeadLoader& loader, Model& target) {
  return std::make_unique<MedusaHeads>(loader, target);
}

}  // namespace triescope
