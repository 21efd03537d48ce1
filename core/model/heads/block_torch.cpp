#include "core/model/heads/block_torch.h"

#include "core/base/error.h"
#include "core/model/heads/block_shape.h"
#include "core/model/heads/block_weights.h"
#include "core/model/heads/torch_head_model.h"

namespace triescope {
namespace {

using at::Tensor;

class BlockTorch final : public TorchHeadModel<BlockWeights<TorchHeadLoader>> {
 public:
  BlockTorch(TorchHeadLoader& loader, const Model& target) : TorchHeadModel(loader, target) {}

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    TorchKv& storage = own_kv(kv);
    const VisibleSlots visible = check_batch(batch, config_, config_.context, storage.capacity());
    const bool of_text = is_context(batch, static_cast<std::size_t>(weights_.fc->matrix.inputs()));
    ForwardOutput output{.logits = {}, .vocab_size = config_.vocab_size};
    forward_on_device(options_.device(), batch.tokens.size(), [&] {
      if (of_text)
        store_text(batch, visible, storage, stop);
      else
        fill_block(batch, visible, storage, stop, output);
    });
    return output;
  }

 private:
  void store_text(const ForwardBatch& batch, const VisibleSlots& visible, TorchKv& kv,
                  const std::stop_token& stop) {
    const ForwardInputs in = layers_.inputs(batch, visible, inputs_);
    const Tensor states = inputs_.device_copy(batch.input_features, options_.device())
                              .view({static_cast<std::int64_t>(batch.tokens.size()), -1})
                              .to(options_.dtype());
    const Tensor context =
        layers_.normalise(linear(states, *weights_.fc), {weights_.context_norm, {}});
    layers_.store_context(in, context, weights_.layers, kv, stop);
  }

  void fill_block(const ForwardBatch& batch, const VisibleSlots& of_rows, TorchKv& kv,
                  const std::stop_token& stop, ForwardOutput& output) {
    const BlockSight sight(batch, of_rows);
    const VisibleSlots visible = sight.visible();
    const ForwardInputs in = layers_.inputs(batch, visible, inputs_);
    TorchFeatures features(batch, in.feature_rows);
    const Tensor normed = layers_.run({in, visible}, weights_.layers, {weights_.final_norm, {}},
                                      embedding_.rows(in.tokens), kv, features, stop);
    if (batch.logit_rows.empty()) return;
    const Tensor states = normed.index_select(0, in.logit_rows);
    logits_.give(output_.logits(states, head_.logit_scale), batch.best_tokens, output);
  }
};

}  // namespace

std::unique_ptr<Model> make_block_torch(TorchHeadLoader& loader, const Model& target) {
  return std::make_unique<BlockTorch>(loader, target);
}

}  // namespace triescope
