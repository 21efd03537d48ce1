// Hydra's heads: like Medusa's, but head i also reads the embeddings of the known token and of the
// i tokens drafted after it.
#include <algorithm>
#include <vector>

#include "core/kernels/activation.h"
#include "core/model/heads/residual_block.h"
#include "core/model/heads/token_head_weights.h"
#include "core/model/heads/token_heads.h"

namespace triescope {
namespace {

class HydraHeads final : public TokenHeads {
 public:
  HydraHeads(HeadLoader& loader, Model& target)
      : pool_(loader.pool()), embedding_(loader, target, hydra_embedding(loader.file().config())) {
    for (const TokenHeadWeights<HeadLoader>& head : hydra_weights(loader))
      heads_.push_back(
          {head.first, head.residual, head.blocks, HeadOutput(loader, target, head.output)});
  }

  int count() const override { return static_cast<int>(heads_.size()); }
  bool reads_tokens() const override { return true; }

  std::span<const float> logits(int head, std::span<const float> state,
                                std::span<const std::int32_t> tokens) override {
    Head& of = heads_.at(static_cast<std::size_t>(head));
    const auto seen = static_cast<std::size_t>(head) + 1;  // tokens a row
    const std::size_t rows = tokens.size() / seen, width = embedding_.width();
    const std::size_t in = state.size() + seen * width;
    input_.resize(rows * in);
    for (std::size_t r = 0; r < rows; ++r) {
      std::ranges::copy(state, input_.begin() + static_cast<std::ptrdiff_t>(r * in));
      embedding_.read(tokens.subspan(r * seen, seen), input_.data() + r * in + state.size(), width);
    }
    const auto count = static_cast<std::int64_t>(rows);
    const std::int64_t inputs = of.first->inputs(), outputs = of.first->outputs();
    x_.resize(rows * static_cast<std::size_t>(outputs));
    branch_.resize(x_.size());
    kernels::linear(*of.residual, input_.data(), inputs, count, x_.data(), outputs, pool_);
    kernels::linear(*of.first, input_.data(), inputs, count, branch_.data(), outputs, pool_);
    kernels::activation(kernels::ActivationKind::kSilu, branch_.data(), outputs, count, outputs,
                        pool_);
    kernels::add_to(x_.data(), branch_.data(), static_cast<std::int64_t>(x_.size()));
    for (const auto& block : of.blocks) add_residual_block(*block, x_, branch_, pool_);
    return of.output.logits(x_);
  }

 private:
  struct Head {
    HeadLoader::Linear first, residual;
    std::vector<HeadLoader::Linear> blocks;
    HeadOutput output;
  };
  ThreadPool& pool_;
  HeadEmbedding embedding_;
  std::vector<Head> heads_;
  std::vector<float> input_, x_, branch_;
};

}  // namespace

std::unique_ptr<TokenHeads> make_hydra_heads(HeadLoader& loader, Model& target) {
  return std::make_unique<HydraHeads>(loader, target);
}

}  // namespace triescope
