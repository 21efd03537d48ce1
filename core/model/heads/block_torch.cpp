#include "core/model/heads/block_torch.h"

#include "core/base/error.h"
#include "core/model/heads/block_shape.h"
#include "core/model/heads/block_weights.h"
#include "core/model/heads/eagle_shape.h"
#include "core/model/torch/torch_layers.h"
#include "core/model/torch/torch_logits.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {
namespace {

using at::Tensor;

class BlockTorch final : public Model {
 public:
  BlockTorch(TorchHeadLoader& loader, const Model& target)
      : head_(loader.file().config()),
        config_(eagle_layers(head_, target.info())),
        info_(eagle_info(loader.file(), config_, target.info().dtype, target.info().device)),
        options_(loader.options()),
        layers_(config_, options_, target.torch_shared()->layer_steps()),
        weights_(loader),
        embedding_(loader, *target.torch_shared(), weights_.embedding),
        output_(loader, *target.torch_shared(), config_.vocab_size, weights_.output),
        logits_(config_.vocab_size, options_, target.torch_shared()->layer_steps()) {
    info_.warning = layers_.warning();
  }

  const ModelInfo& info() const override { return info_; }
  DeviceMemory device_memory() const override { return allocator_memory(options_.device()); }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<TorchKv>(config_, options_, capacity);
  }

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    auto* storage = dynamic_cast<TorchKv*>(&kv);
    if (storage == nullptr || !storage->fits(config_, options_, config_.layers.size()))
      throw Error(ErrorCode::kInvalidArgument, "forward: the KV storage belongs to another model");
    const VisibleSlots visible = check_batch(batch, config_, config_.context, storage->capacity());
    const bool of_text = is_context(batch, static_cast<std::size_t>(weights_.fc->matrix.inputs()));
    ForwardOutput output{.logits = {}, .vocab_size = config_.vocab_size};
    forward_on_device(options_.device(), batch.tokens.size(), [&] {
      if (of_text)
        store_text(batch, visible, *storage, stop);
      else
        fill_block(batch, visible, *storage, stop, output);
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

  const formats::HeadConfig head_;
  const formats::ModelConfig config_;
  ModelInfo info_;
  const at::TensorOptions options_;
  TorchLayers layers_;
  BlockWeights<TorchHeadLoader> weights_;
  TorchHeadEmbedding embedding_;
  TorchHeadOutput output_;
  TorchLogits logits_;
  StagingBuffer inputs_;  // of the last forward
};

}  // namespace

std::unique_ptr<Model> make_block_torch(TorchHeadLoader& loader, const Model& target) {
  return std::make_unique<BlockTorch>(loader, target);
}

}  // namespace triescope
