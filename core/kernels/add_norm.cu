#include "core/kernels/add_norm.cuh"

#include "core/kernels/launch.cuh"
#include "core/kernels/row_norm.cuh"

namespace {

using triescope::kernels::cuda::kNormThreads;
using triescope::kernels::cuda::kVectorOf;
using triescope::kernels::cuda::load;
using triescope::kernels::cuda::norm_add;
using triescope::kernels::cuda::norm_moments;
using triescope::kernels::cuda::normalised;
using triescope::kernels::cuda::NormMoments;
using triescope::kernels::cuda::rounded;
using triescope::kernels::cuda::store;
using triescope::kernels::cuda::write_normalised;

// Each thread reads back only what it wrote itself (row_norm.cuh).
template <class T, int kWidth>
__global__ void __launch_bounds__(kNormThreads) add_norm_rows(TRIESCOPE_CALL TriescopeAddNorm a) {
  TRIESCOPE_SHARED(float, warps, [kNormThreads / 32]);
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
  write_normalised<T, kWidth>(a, x, sum, out, warps);
}

template <class T>
cudaError_t launch_add_norm(const TriescopeAddNorm& a, cudaStream_t stream) {
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
  using triescope::kernels::cuda::with_element;
  const TriescopeAddNorm& a = *call;
  const bool fits = a.rows >= 1 && a.dim >= 1 && a.eps >= 0 && a.x != nullptr && a.out != nullptr &&
                    a.weight != nullptr && vector_aligned(a.x) && vector_aligned(a.h) &&
                    vector_aligned(a.out);
  if (!fits) return cudaErrorInvalidValue;
  return with_element(a.dtype, [&](auto element) {
    return launch_add_norm<decltype(element)>(a, static_cast<cudaStream_t>(stream));
  });
}
