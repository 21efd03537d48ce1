// LayerSubset: a model without some of its layers, as a model of its own. It shares all weights, and its KV is
// that of its own layers alone. What goes past a layer that is left out is the residual stream as it is.
// Borrows the whole model, whose rows are valid until the next forward of either. Source: Zhang et al., "Draft
// & Verify: Lossless Large Language Model Acceleration via Self-Speculative Decoding", 2024.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/model/model.h"

namespace triescope {

// The layers from 0 to all - 1 that `some`, ascending, does not have.
std::vector<std::int32_t> other_layers(int all, std::span<const std::int32_t> some);

class LayerSubset final : public Model {
 public:
  // `layers`: those that stay, ascending. Error{kInvalidArgument}: none, or one that the model has not.
  LayerSubset(Model& whole, std::vector<std::int32_t> layers);

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return whole_.make_kv_of(capacity, layers_);
  }
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override;
  DeviceMemory device_memory() const override { return whole_.device_memory(); }
  const std::vector<std::int32_t>& layers() const { return layers_; }
  std::vector<std::int32_t> left_out() const { return other_layers(whole_.info().layers, layers_); }
  // Takes others of the same number from now on. KV that was computed stays as it is.
  // Error{kInvalidArgument}: as the constructor's, or another number.
  void set_layers(std::vector<std::int32_t> layers);

 private:
  Model& whole_;
  std::vector<std::int32_t> layers_;
  ModelInfo info_;
};

}  // namespace triescope
