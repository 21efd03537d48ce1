// KV slots of the CPU executor: for each layer K and V as [capacity, kv_heads, head_dim] in fp32 or
// bf16. Several layers may share a buffer, as many as it takes to give it huge pages: attention
// reads a layer's slots from memory at every step, and would wait for the TLB otherwise
// (SmolLM2-135M, two Zen 4 cores, a greedy step: 3800 slots 0.67 of the time, 2048 slots 0.85).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/files/config.h"
#include "core/kernels/buffer.h"
#include "core/kernels/precision.h"
#include "core/kernels/tree_attention.h"
#include "core/model/kv_copies.h"
#include "core/model/model.h"

namespace triescope {

class CpuKv final : public KvStorage, public KvCopies {
 public:
  CpuKv(const formats::ModelConfig& config, kernels::Precision precision, int capacity)
      : CpuKv(config, precision, capacity, config.layers.size()) {}
  // For `layers` of its layers alone, or all of them where these are of several widths (layer_route.h).
  CpuKv(const formats::ModelConfig& config, kernels::Precision precision, int capacity,
        std::size_t layers);

  int capacity() const override { return capacity_; }
  std::int64_t bytes_per_slot() const override;
  void reserve(int capacity) override;
  void move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) override;
  void write(std::span<const std::int32_t> slots, std::span<const float> keys,
             std::span<const float> values) override;
  bool copy_from(const KvStorage& other, std::span<const std::int32_t> from,
                 std::span<const std::int32_t> to, std::span<const std::int32_t> layers) override;

  std::size_t layers() const { return parts_.size() / 2; }
  // Whether this storage was made for so many layers of such a configuration.
  bool fits(const formats::ModelConfig& config, kernels::Precision precision,
            std::size_t layers) const;
  // `layer` is RouteStep::stored.
  kernels::KvView view(std::size_t layer) const;
  void* keys(std::size_t layer) { return parts_[2 * layer].data; }
  void* values(std::size_t layer) { return parts_[2 * layer + 1].data; }

 private:
  struct Part {
    std::shared_ptr<kernels::Buffer> buffer;  // other parts may share it
    std::byte* data = nullptr;
    int capacity = 0;
    int dims = 0;  // kv_heads * head_dim; 0 = the layer reads K and V of another
  };
  void allocate(int capacity);
  std::size_t row_bytes(const Part& part) const {
    return static_cast<std::size_t>(part.dims) * kernels::element_bytes(precision_);
  }

  kernels::Precision precision_;
  bool even_ = true;         // all layers have K and V of one width
  std::vector<Part> parts_;  // K and V of each layer
  int capacity_ = 0;
  std::vector<unsigned char> moved_;
};

}  // namespace triescope
