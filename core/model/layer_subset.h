// LayerSubset: a model without some parts of its layers, as a model of its own. It shares all weights. Its KV is
// that of the attention that stays, or, where the list changes, has room for every layer's. Borrows the whole
// model, whose rows are valid until the next forward of either. Source: Zhang et al., "Draft & Verify: Lossless
// Large Language Model Acceleration via Self-Speculative Decoding", 2024.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/model/model.h"
#include "core/model/sublayers.h"

namespace triescope {

class LayerSubset final : public Model {
 public:
  // What its storage has room for: the attention that stays, or every layer's, so that another number may stay later.
  enum class KvOf { kParts, kAllLayers };
  // `sublayers`: those that stay, ascending, attention among them. Error{kInvalidArgument}: no attention, or a
  // part that the model has not.
  LayerSubset(Model& whole, std::vector<std::int32_t> sublayers, KvOf kv_of = KvOf::kParts);

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return whole_.make_kv_of(capacity, kv_layers());
  }
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override;
  DeviceMemory device_memory() const override { return whole_.device_memory(); }
  const std::vector<std::int32_t>& sublayers() const { return sublayers_; }
  std::vector<std::int32_t> left_out() const;
  // The layers whose KV its storage has, in order; with K and V of several widths it has all (layer_route.h).
  std::vector<std::int32_t> kv_layers() const;
  // Takes others from now on. KV that was computed stays as it is. Error{kInvalidArgument}: as the
  // constructor's, or a storage that has no room for them (KvOf::kParts and another number with attention).
  void set_sublayers(std::vector<std::int32_t> sublayers);

 private:
  Model& whole_;
  std::vector<std::int32_t> sublayers_;
  KvOf kv_of_;
  ModelInfo info_;
};

}  // namespace triescope
