// The first half of a layer's attention on the CPU: q, k and v of rows, as attention reads them. k and v go into the
// KV storage. Path only: every kernel used here computes a row from that row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/model/cpu/cpu_experts.h"
#include "core/model/cpu/cpu_kv.h"
#include "core/model/cpu/cpu_weights.h"
#include "core/model/rope_table.h"

namespace triescope {

// Scratch is kept from one run to the next: not thread-safe. Borrows the configuration and the pool.
class CpuQkv {
 public:
  CpuQkv(const formats::ModelConfig& config, kernels::Precision precision, ThreadPool& pool);

  // The rows of the layers that follow. text_length is as in ForwardBatch.
  void begin(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots,
             std::int32_t text_length);
  // Normalised, rotated and scaled: q stays here, k and v of a layer that has its own are stored.
  void project(std::size_t index, const CpuWeights::Layer& layer, CpuRows in, CpuKv& kv,
               std::size_t kv_layer);
  // q of the last project(): row r at queries() + r * stride(), [heads, head_dim].
  const float* queries() const { return qkv_.data(); }
  std::int64_t stride() const { return stride_; }

 private:
  void normalise_heads(float* x, const formats::HeadShape& shape, int heads,
                       const std::vector<float>& weight);
  void rotate(float* x, const formats::HeadShape& shape, int heads, int rope);

  const formats::ModelConfig& config_;
  kernels::Precision precision_;
  ThreadPool& pool_;
  std::vector<RopeTable> ropes_;
  std::vector<float> ones_;  // the weight of a norm without one

  std::span<const std::int32_t> positions_, slots_;
  std::int64_t rows_ = 0, stride_ = 0;
  std::vector<float> qkv_;
  std::vector<std::vector<float>> cos_, sin_;  // by rope: [rows, dims / 2]
};

}  // namespace triescope
