// KV slots of the libtorch executor, on CPU or CUDA: for each layer K and V as
// [capacity, kv_heads, head_dim] in the model's dtype.
#pragma once

#include <utility>
#include <vector>

#include "core/files/config.h"
#include "core/kernels/aten.h"
#include "core/model/model.h"

namespace triescope {

class TorchKv final : public KvStorage {
 public:
  TorchKv(const formats::ModelConfig& config, const at::TensorOptions& options, int capacity)
      : TorchKv(config, options, capacity, config.layers.size()) {}
  // For `layers` of its layers alone, or all of them where these are of several widths (layer_route.h).
  TorchKv(const formats::ModelConfig& config, const at::TensorOptions& options, int capacity,
          std::size_t layers);

  int capacity() const override { return capacity_; }
  std::int64_t bytes_per_slot() const override;
  void reserve(int capacity) override;
  void move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) override;
  void write(std::span<const std::int32_t> slots, std::span<const float> keys,
             std::span<const float> values) override;

  std::size_t layers() const { return layers_.size(); }
  // Whether this storage was made for so many layers of such a configuration, device and dtype.
  bool fits(const formats::ModelConfig& config, const at::TensorOptions& options,
            std::size_t layers) const;
  // `layer` is RouteStep::stored.
  at::Tensor& k(std::size_t layer) { return layers_[layer].first; }
  at::Tensor& v(std::size_t layer) { return layers_[layer].second; }

 private:
  void allocate(int capacity);

  const std::vector<formats::KvShape> shapes_;
  const bool even_;  // all layers have K and V of one shape
  const at::TensorOptions options_;
  std::vector<std::pair<at::Tensor, at::Tensor>> layers_;
  int capacity_ = 0;
  std::size_t moved_tensors_ = 0;  // progress of a move that was refused memory on its way
};

}  // namespace triescope
