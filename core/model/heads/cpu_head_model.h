// What draft heads that are layers of a transformer share on the CPU kernels (eagle_model.cpp,
// block_model.cpp): their parts, their KV, the rows whose logits are asked for.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/kernels/linear.h"
#include "core/model/cpu/cpu_kv.h"
#include "core/model/cpu/cpu_layers.h"
#include "core/model/heads/eagle_shape.h"
#include "core/model/heads/head_weights.h"

namespace triescope {

// Weights: EagleWeights or BlockWeights of HeadLoader.
template <class Weights>
class CpuHeadModel : public Model {
 public:
  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<CpuKv>(config_, precision_, capacity);
  }

 protected:
  CpuHeadModel(HeadLoader& loader, Model& target, kernels::Precision precision)
      : head_(loader.file().config()),
        config_(eagle_layers(head_, target.info())),
        info_(eagle_info(loader.file(), config_,
                         precision == kernels::Precision::kBF16 ? DType::kBF16 : DType::kF32,
                         "cpu")),
        precision_(precision),
        pool_(loader.pool()),
        layers_(config_, precision, pool_),
        weights_(loader),
        embedding_(loader, target, weights_.embedding),
        output_(loader, target, weights_.output) {
    info_.row_costs = kernels::PackedLinear::row_costs(bytes_per_weight(weights_.layers, {}));
  }

  std::size_t hidden() const { return static_cast<std::size_t>(head_.hidden); }

  // Error{kInvalidArgument}: made by another model.
  CpuKv& own_kv(KvStorage& kv) const {
    auto* storage = dynamic_cast<CpuKv*>(&kv);
    if (storage == nullptr || !storage->fits(config_, precision_, config_.layers.size()))
      throw Error(ErrorCode::kInvalidArgument, "forward: the KV storage belongs to another model");
    return *storage;
  }

  // Copies what left the layers in the rows whose logits are asked for into last_.
  void gather_last(const ForwardBatch& batch) {
    const std::span<const float> x = layers_.residual(batch.tokens.size());
    last_.resize(batch.logit_rows.size() * hidden());
    for (std::size_t i = 0; i < batch.logit_rows.size(); ++i)
      std::ranges::copy(
          x.subspan(static_cast<std::size_t>(batch.logit_rows[i]) * hidden(), hidden()),
          last_.begin() + static_cast<std::ptrdiff_t>(i * hidden()));
  }

  const formats::HeadConfig head_;
  const formats::ModelConfig config_;
  ModelInfo info_;
  kernels::Precision precision_;
  ThreadPool& pool_;
  CpuLayers layers_;
  Weights weights_;
  HeadEmbedding embedding_;
  HeadOutput output_;
  std::vector<float> last_;  // scratch: [logit_rows, hidden]
};

}  // namespace triescope
