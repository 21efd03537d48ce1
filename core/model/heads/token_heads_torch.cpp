#include "core/model/heads/token_heads_torch.h"

#include <vector>

#include "core/model/heads/token_head_weights.h"
#include "core/model/torch/torch_logits.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {
namespace {

using at::Tensor;
using Linear = TorchHeadLoader::Linear;

// x <- x + SiLU(W x + b)
Tensor residual_block(const Tensor& x, const TorchLinear& block) {
  return x + at::silu(linear(x, block));
}

// The base of both kinds.
class TorchTokenHeads : public TokenHeads {
 public:
  TorchTokenHeads(TorchHeadLoader& loader, const Model& target,
                  const std::vector<TokenHeadWeights<TorchHeadLoader>>& heads)
      : options_(loader.options()),
        logits_(target.info().vocab_size, options_, target.torch_shared()->layer_steps()) {
    for (const TokenHeadWeights<TorchHeadLoader>& head : heads)
      heads_.push_back(
          {head.first, head.residual, head.blocks,
           TorchHeadOutput(loader, *target.torch_shared(), target.info().vocab_size, head.output)});
    one_output_ = share_output(heads_);
  }

  int count() const override { return static_cast<int>(heads_.size()); }

  std::span<const float> logits(int head, std::span<const float> state,
                                std::span<const std::int32_t> tokens) override {
    return rows(head, state, tokens, 0).logits;
  }
  ForwardOutput rows(int head, std::span<const float> state, std::span<const std::int32_t> tokens,
                     int best_tokens) override {
    return give(best_tokens, [&] {
      const Tensor x = hidden(head, rows_tensor(state, 1, options_), tokens);
      return heads_[static_cast<std::size_t>(head)].output.logits(x);
    });
  }
  ForwardOutput first_rows(int heads, std::span<const float> state, int best_tokens) override {
    return give(best_tokens, [&] {
      const Tensor x = rows_tensor(state, 1, options_);
      std::vector<Tensor> parts;  // by head: the inputs of the one output matrix, or logits
      for (int head = 0; head < heads; ++head) {
        parts.push_back(hidden(head, x, {}));
        if (!one_output_)
          parts.back() = heads_[static_cast<std::size_t>(head)].output.logits(parts.back());
      }
      const Tensor all = at::cat(parts);
      return one_output_ ? heads_[0].output.logits(all) : all;
    });
  }

 protected:
  struct Head {
    Linear first, residual;
    std::vector<Linear> blocks;
    TorchHeadOutput output;
  };
  // state [1, hidden] -> input of the residual blocks, [rows, hidden].
  virtual Tensor first_block(const Head& of, int head, const Tensor& state,
                             std::span<const std::int32_t> tokens) const = 0;

  const at::TensorOptions options_;

 private:
  // The input of a head's output matrix, [rows, hidden].
  Tensor hidden(int head, const Tensor& state, std::span<const std::int32_t> tokens) const {
    const Head& of = heads_.at(static_cast<std::size_t>(head));
    Tensor x = first_block(of, head, state, tokens);
    for (const Linear& block : of.blocks) x = residual_block(x, *block);
    return x;
  }
  // logits(): [rows, vocab].
  template <class F>
  ForwardOutput give(int best_tokens, const F& logits) {
    ForwardOutput output;
    output.vocab_size = static_cast<int>(logits_.vocab_size());
    on_device(options_.device(), [&] { logits_.give(logits(), best_tokens, output); });
    return output;
  }

  std::vector<Head> heads_;
  bool one_output_;     // all heads share one output matrix
  TorchLogits logits_;  // of the last call
};

class MedusaTorch final : public TorchTokenHeads {
 public:
  MedusaTorch(TorchHeadLoader& loader, const Model& target)
      : TorchTokenHeads(loader, target, medusa_weights(loader)) {}
  bool reads_tokens() const override { return false; }

 private:
  Tensor first_block(const Head&, int, const Tensor& state,
                     std::span<const std::int32_t>) const override {
    return state;
  }
};

class HydraTorch final : public TorchTokenHeads {
 public:
  HydraTorch(TorchHeadLoader& loader, const Model& target)
      : TorchTokenHeads(loader, target, hydra_weights(loader)),
        embedding_(loader, *target.torch_shared(), hydra_embedding(loader.file().config())) {}
  bool reads_tokens() const override { return true; }

 private:
  Tensor first_block(const Head& of, int head, const Tensor& state,
                     std::span<const std::int32_t> tokens) const override {
    const std::int64_t seen = head + 1;  // tokens a row
    const std::int64_t rows = static_cast<std::int64_t>(tokens.size()) / seen;
    const Tensor embedded = embedding_.rows(index_tensor(tokens, options_.device()));
    const Tensor x =
        at::cat({state.expand({rows, -1}), embedded.reshape({rows, seen * embedded.size(1)})}, 1);
    return linear(x, *of.residual) + at::silu(linear(x, *of.first));
  }

  TorchHeadEmbedding embedding_;
};

}  // namespace

std::unique_ptr<TokenHeads> make_medusa_torch(TorchHeadLoader& loader, const Model& target) {
  return std::make_unique<MedusaTorch>(loader, target);
}

std::unique_ptr<TokenHeads> make_hydra_torch(TorchHeadLoader& loader, const Model& target) {
  return std::make_unique<HydraTorch>(loader, target);
}

}  // namespace triescope
