// The second kernel of tree attention: combines partitions into a row. Only for kernels' sources.
#pragma once

#include "core/kernels/device_attention/pass.cuh"

namespace triescope::kernels::cuda::attention {
namespace {

// The sum of several partitions: the largest score, and the sum of exponentials and the sum of V
// relative to it. A lane has the dimensions lane, lane + 32, ...
template <int kMost>
struct Chain {
  static constexpr int kParts = (kMost + 31) / 32;
  float largest = -INFINITY, total = 0.0f, sum[kParts] = {};

  __device__ void load(const float* summary, const float* values, int dim) {
    const int lane = threadIdx.x % 32;
    largest = summary[0];
    total = summary[1];
    TRIESCOPE_UNROLL
    for (int i = 0; i < kParts; ++i) {
      const int d = lane + 32 * i;
      if (d < dim) sum[i] = values[d];
    }
  }

  // Adds a partition, or another chain.
  __device__ void add(const float* summary, const float* values, int dim) {
    const int lane = threadIdx.x % 32;
    const float m = fmaxf(largest, summary[0]);
    // Also covers the case that both are infinite.
    const float keep = largest == m ? 1.0f : expf(__fsub_rn(largest, m));
    const float take = summary[0] == m ? 1.0f : expf(__fsub_rn(summary[0], m));
    largest = m;
    total = __fmaf_rn(take, summary[1], __fmul_rn(keep, total));
    TRIESCOPE_UNROLL
    for (int i = 0; i < kParts; ++i) {
      const int d = lane + 32 * i;
      if (d < dim) sum[i] = __fmaf_rn(take, values[d], __fmul_rn(keep, sum[i]));
    }
  }

  __device__ void store(float* summary, float* values, int dim) const {
    const int lane = threadIdx.x % 32;
    if (lane == 0) {
      summary[0] = largest;
      summary[1] = total;
    }
    TRIESCOPE_UNROLL
    for (int i = 0; i < kParts; ++i) {
      const int d = lane + 32 * i;
      if (d < dim) values[d] = sum[i];
    }
  }
};

// Combines the partitions of a pass for one row and head. Warp i takes the partitions whose index
// modulo kChains is i, ascending. The last pass adds the chains in order.
template <class T, int kDim>
__global__ void __launch_bounds__(kChains * 32)
    combine_partitions(TRIESCOPE_CALL TriescopeTreeAttention a, TRIESCOPE_CALL Pass pass) {
  using PartChain = Chain<Tiles<T, kDim>::kMost>;
  TRIESCOPE_SHARED(float, summaries, [kChains][2]);
  TRIESCOPE_SHARED(float, sums, [kChains][Tiles<T, kDim>::kMost]);
  const int head = blockIdx.x, row = pass.row0 + blockIdx.y, dim = head_dim_of<T, kDim>(a);
  const int t = threadIdx.x, warp = t / 32;
  const List list = list_of(a, row);
  const int begin = max(list.start / kPartition, pass.first);
  const int end = min((list.count + kPartition - 1) / kPartition, pass.first + pass.span);
  const int64_t at = partial_index(a, pass, row, head, pass.first);
  const int64_t chain_at = (static_cast<int64_t>(blockIdx.y) * a.heads + head) * kChains + warp;

  PartChain chain;
  if (pass.resumed) chain.load(pass.chain_of + 2 * chain_at, pass.chains + chain_at * dim, dim);
  TRIESCOPE_UNROLL_4
  for (int p = begin + (warp - begin % kChains + kChains) % kChains; p < end; p += kChains) {
    const int64_t of = at + p - pass.first;
    chain.add(pass.summary + 2 * of, pass.values + of * dim, dim);
  }
  if (!pass.finished) {
    __syncthreads();  // every lane has loaded what the first one overwrites
    chain.store(pass.chain_of + 2 * chain_at, pass.chains + chain_at * dim, dim);
    return;
  }
  chain.store(summaries[warp], sums[warp], dim);
  __syncthreads();
  if (warp > 0) return;
  PartChain all;
  for (int c = 0; c < kChains; ++c) all.add(summaries[c], sums[c], dim);
  T* out = static_cast<T*>(a.out) + row * a.out_stride + static_cast<int64_t>(head) * dim;
  TRIESCOPE_UNROLL
  for (int i = 0; i < PartChain::kParts; ++i) {
    const int d = t + 32 * i;
    if (d < dim) out[d] = Element<T>::narrow(__fdiv_rn(all.sum[i], all.total));
  }
}

}  // namespace
}  // namespace triescope::kernels::cuda::attention
