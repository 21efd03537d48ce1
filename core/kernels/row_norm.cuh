// The norm of a row by the threads of a block, the same for every kernel that ends in one. Values i
// .. i + kWidth belong to one thread in every pass; a sum over the row is a chain in each thread,
// then block_sum. `Call` has dim, layer_norm, eps, weight and bias like TriescopeAddNorm. Only for
// kernels' sources.
#pragma once

#include "core/kernels/element.cuh"
#include "core/kernels/sums.cuh"

namespace triescope::kernels::cuda {

constexpr int kNormThreads = 256;

struct NormMoments {
  float mean, scale;  // RMS: mean 0
};

// This thread's contribution to the row's first sum: squares (RMS), or the values.
template <class Call>
__device__ float norm_add(const Call& a, float sum, float v) {
  return a.layer_norm ? __fadd_rn(sum, v) : __fmaf_rn(v, v, sum);
}

// `first`: the sum of norm_add over this thread's values of the row.
template <class T, int kWidth, class Call>
__device__ NormMoments norm_moments(const Call& a, const T* row, float first, float* warps) {
  const float n = static_cast<float>(a.dim);
  const float sum = block_sum<kNormThreads>(first, warps);
  if (!a.layer_norm)
    return {0.0f, __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(__fdiv_rn(sum, n), a.eps)))};
  const float mean = __fdiv_rn(sum, n);
  float centred = 0.0f;
  for (int i = threadIdx.x * kWidth; i < a.dim; i += kNormThreads * kWidth) {
    float v[kWidth];
    load<T, kWidth>(row + i, v);
    TRIESCOPE_UNROLL
    for (int e = 0; e < kWidth; ++e) {
      const float d = __fsub_rn(v[e], mean);
      centred = __fmaf_rn(d, d, centred);
    }
  }
  const float variance = __fdiv_rn(block_sum<kNormThreads>(centred, warps), n);
  return {mean, __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(variance, a.eps)))};
}

inline __device__ float normalised(const NormMoments& m, float v, float weight) {
  return __fmul_rn(__fmul_rn(__fsub_rn(v, m.mean), m.scale), weight);
}

// out = norm(x) * weight + bias. `sum`: the sum of norm_add over this thread's values of x, which
// it wrote itself or which were there before a barrier.
template <class T, int kWidth, class Call>
__device__ void write_normalised(const Call& a, const T* x, float sum, T* out, float* warps) {
  const NormMoments m = norm_moments<T, kWidth>(a, x, sum, warps);
  for (int i = threadIdx.x * kWidth; i < a.dim; i += kNormThreads * kWidth) {
    float v[kWidth];
    load<T, kWidth>(x + i, v);
    TRIESCOPE_UNROLL
    for (int e = 0; e < kWidth; ++e) {
      v[e] = normalised(m, v[e], a.weight[i + e]);
      if (a.bias != nullptr) v[e] = __fadd_rn(v[e], a.bias[i + e]);
    }
    store<T, kWidth>(out + i, v);
  }
}

}  // namespace triescope::kernels::cuda
