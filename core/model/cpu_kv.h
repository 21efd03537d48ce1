// KV slots of the CPU executor: for each layer K and V as [capacity, kv_heads, head_dim] in fp32 or
// bf16.
#pragma once

#include <vector>

#include "core/formats/config.h"
#include "core/kernels/buffer.h"
#include "core/kernels/precision.h"
#include "core/kernels/tree_attention.h"
#include "core/model/model.h"

namespace triescope {

class CpuKv final : public KvStorage {
 public:
  CpuKv(const formats::ModelConfig& config, kernels::Precision precision, int capacity);

  int capacity() const override { return capacity_; }
  std::int64_t bytes_per_slot() const override;
  void reserve(int capacity) override;
  void move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) override;

  // Did this model's configuration make it?
  bool fits(const formats::ModelConfig& config, kernels::Precision precision) const;
  kernels::KvView view(std::size_t layer) const;
  void* keys(std::size_t layer) { return layers_[layer].keys.data(); }
  void* values(std::size_t layer) { return layers_[layer].values.data(); }

 private:
  struct Layer {
    kernels::Buffer keys, values;
  };
  void allocate(int capacity);
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(dims_) * kernels::element_bytes(precision_);
  }

  int dims_ = 0;  // kv_heads * head_dim
  kernels::Precision precision_;
  std::vector<Layer> layers_;
  int capacity_ = 0;
  std::vector<unsigned char> moved_;
};

}  // namespace triescope
