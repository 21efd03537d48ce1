// What draft heads that are layers of a transformer share on the device of a target that runs
// through libtorch (eagle_torch.cpp, block_torch.cpp): their parts and their KV.
#pragma once

#include <memory>

#include "core/base/error.h"
#include "core/model/heads/eagle_shape.h"
#include "core/model/heads/torch_head_weights.h"
#include "core/model/torch/torch_layers.h"
#include "core/model/torch/torch_logits.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {

// Weights: EagleWeights or BlockWeights of TorchHeadLoader.
template <class Weights>
class TorchHeadModel : public Model {
 public:
  const ModelInfo& info() const override { return info_; }
  DeviceMemory device_memory() const override { return allocator_memory(options_.device()); }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<TorchKv>(config_, options_, capacity);
  }

 protected:
  TorchHeadModel(TorchHeadLoader& loader, const Model& target)
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

  // Error{kInvalidArgument}: made by another model.
  TorchKv& own_kv(KvStorage& kv) const {
    auto* storage = dynamic_cast<TorchKv*>(&kv);
    if (storage == nullptr || !storage->fits(config_, options_, config_.layers.size()))
      throw Error(ErrorCode::kInvalidArgument, "forward: the KV storage belongs to another model");
    return *storage;
  }

  const formats::HeadConfig head_;
  const formats::ModelConfig config_;
  ModelInfo info_;
  const at::TensorOptions options_;
  TorchLayers layers_;
  Weights weights_;
  TorchHeadEmbedding embedding_;
  TorchHeadOutput output_;
  TorchLogits logits_;
  StagingBuffer inputs_;  // of the last forward
};

}  // namespace triescope
