// A short convolution in attention's place (LFM2), on the CPU. For a row with ancestors p, pp, ... on its path:
//
//   [b, c, x] = in(row)    z = b * x    y = c * (bias + sum over taps t of w[t] * z of the ancestor t rows back)
//
// elementwise, with the last tap the row's own and none before the text's beginning. z is the row's state: it lies in the row's KV
// slot, in K's place, so whoever frees, moves or copies slots has nothing to know of it, and rows of a tree find their ancestors'
// by their lists of visible slots. Path only: a row's sum has one order. Source: transformers 5.17.0, modeling_lfm2.py.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/kernels/tree_attention.h"
#include "core/model/cpu/cpu_experts.h"
#include "core/model/cpu/cpu_kv.h"
#include "core/model/cpu/cpu_weights.h"

namespace triescope {

// Scratch is kept from one run to the next: not thread-safe. Borrows the configuration and the pool.
class CpuShortConv {
 public:
  CpuShortConv(const formats::ModelConfig& config, kernels::Precision precision, ThreadPool& pool)
      : config_(config), precision_(precision), pool_(pool) {}

  // y [rows, hidden], rows `stride` apart, of a layer whose state is the storage's layer `stored`. `visible` holds what the
  // rows see, each row's own slot last.
  void run(const CpuWeights::Layer& layer, CpuRows in, std::span<const std::int32_t> slots,
           const kernels::VisibleSlots& visible, CpuKv& kv, std::size_t stored, float* y,
           std::int64_t stride);

 private:
  const formats::ModelConfig& config_;
  kernels::Precision precision_;
  ThreadPool& pool_;
  std::vector<float> parts_;
};

}  // namespace triescope
