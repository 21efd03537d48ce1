#include "core/kernels/add_norm.cuh"

#include "core/kernels/element.cuh"
#include "core/kernels/launch.cuh"
#include "core/kernels/sums.cuh"

namespace {

using triescope::kernels::cuda::block_sum;
using triescope::kernels::cuda::kVectorOf;
using triescope::kernels::cuda::load;
using triescope::kernels::cuda::rounded;
using triescope::kernels::cuda::store;

constexpr int kNormThreads = 256;

struct NormMoments {
  float mean, scale;  // RMS: mean 0
};

// What this thread's values add to the row's first sum: squares (RMS), or the values.
__device__ float norm_add(const TriescopeAddNorm& a, float sum, float v) {
  return a.layer_norm ? __fadd_rn(sum, v) : __fmaf_rn(v, v, sum);
}

// `first`: the sum of norm_add over this thread's values of the row.
template <class T, int kWidth>
__device__ NormMoments norm_moments(const TriescopeAddNorm& a, const T* row, float first,
                                    float* warps) {
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

__device__ float normalised(const NormMoments& m, float v, float weight) {
  return __fmul_rn(__fmul_rn(__fsub_rn(v, m.mean), m.scale), weight);
}

// Values i .. i + kWidth of a row belong to one thread in every pass: it reads back what it wrote.
template <class T, int kWidth>
__global__ void __launch_bounds__(kNormThreads) add_norm_rows(TRIESCOPE_CALL TriescopeAddNorm a) {
  __shared__ float warps[kNormThreads / 32];
  const int64_t at = static_cast<int64_t>(blockIdx.x) * a.dim;
  T* x = static_cast<T*>(a.x) + at;
  T* out = static_cast<T*>(a.out) + at;
  const T* h = a.h == nullptr ? nullptr : static_cast<const T*>(a.h) + at;
  const int first = threadIdx.x * kWidth;
  constexpr int kStep = kNormThreads * kWidth;

  NormMoments branch = {0.0f, 1.0f};
  if (h != nullptr && a.post != nullptr) {
    float sum = 0.0f;
    for (int i = first; i < a.dim; i += kStep) {
      float v[kWidth];
      load<T, kWidth>(h + i, v);
      TRIESCOPE_UNROLL
      for (int e = 0; e < kWidth; ++e) sum = norm_add(a, sum, v[e]);
    }
    branch = norm_moments<T, kWidth>(a, h, sum, warps);
  }

  float sum = 0.0f;
  for (int i = first; i < a.dim; i += kStep) {
    float v[kWidth];
    load<T, kWidth>(x + i, v);
    if (h != nullptr) {
      float add[kWidth];
      load<T, kWidth>(h + i, add);
      TRIESCOPE_UNROLL
      for (int e = 0; e < kWidth; ++e) {
        if (a.post != nullptr) add[e] = rounded<T>(normalised(branch, add[e], a.post[i + e]));
        v[e] = rounded<T>(__fadd_rn(v[e], add[e]));
      }
      store<T, kWidth>(x + i, v);
    }
    TRIESCOPE_UNROLL
    for (int e = 0; e < kWidth; ++e) sum = norm_add(a, sum, v[e]);
  }
  const NormMoments m = norm_moments<T, kWidth>(a, x, sum, warps);
  for (int i = first; i < a.dim; i += kStep) {
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

template <class T>
int launch_add_norm(const TriescopeAddNorm& a, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(a.rows));
  constexpr int kVector = kVectorOf<T>;
  if (a.dim % kVector == 0) {
    const auto add_norm = add_norm_rows<T, kVector>;
    TRIESCOPE_LAUNCH(add_norm, grid, kNormThreads, stream, a);
  } else {
    const auto add_norm = add_norm_rows<T, 1>;
    TRIESCOPE_LAUNCH(add_norm, grid, kNormThreads, stream, a);
  }
  return cudaGetLastError();
}

}  // namespace

extern "C" int triescope_cuda_add_norm(const TriescopeAddNorm* call, void* stream) {
  using triescope::kernels::cuda::vector_aligned;
  const TriescopeAddNorm& a = *call;
  const bool fits = a.rows >= 1 && a.dim >= 1 && a.eps >= 0 && a.x != nullptr && a.out != nullptr &&
                    a.weight != nullptr && vector_aligned(a.x) && vector_aligned(a.h) &&
                    vector_aligned(a.out);
  if (!fits) return cudaErrorInvalidValue;
  switch (a.dtype) {
    case kTriescopeF32:
      return launch_add_norm<float>(a, static_cast<cudaStream_t>(stream));
    case kTriescopeF16:
      return launch_add_norm<__half>(a, static_cast<cudaStream_t>(stream));
    case kTriescopeBF16:
      return launch_add_norm<__nv_bfloat16>(a, static_cast<cudaStream_t>(stream));
    default:
      return cudaErrorInvalidValue;
  }
}
