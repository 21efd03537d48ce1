// Sums over a warp and over a block, in one order whatever the launch: lanes as a tree, then warps
// ascending. Every thread gets the sum. Only for kernels' sources.
#pragma once

#include "core/kernels/launch.cuh"

namespace triescope::kernels::cuda {

// All threads of the warp must take part.
inline __device__ float warp_sum(float v) {
  for (int lane = 16; lane > 0; lane /= 2) v = __fadd_rn(v, __shfl_xor_sync(0xffffffffu, v, lane));
  return v;
}

// All threads of the block must take part. warps: one value for each warp, in shared memory; free
// again when the function returns.
template <int kThreads>
__device__ float block_sum(float v, float* warps) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = warps[0];
  for (int w = 1; w < kThreads / 32; ++w) sum = __fadd_rn(sum, warps[w]);
  __syncthreads();
  return sum;
}

}  // namespace triescope::kernels::cuda
