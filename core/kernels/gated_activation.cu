#include "core/kernels/gated_activation.cuh"

#include "core/kernels/element.cuh"
#include "core/kernels/launch.cuh"

namespace {

using triescope::kernels::cuda::kVectorOf;
using triescope::kernels::cuda::load;
using triescope::kernels::cuda::rounded;
using triescope::kernels::cuda::store;

constexpr int kActivationThreads = 256;

// Every step is rounded by itself: the compiler must not choose where it fuses.
__device__ float activated(int kind, float x) {
  if (kind == kTriescopeSilu) return __fdiv_rn(x, __fadd_rn(1.0f, expf(-x)));
  float inner;
  if (kind == kTriescopeGeluTanh) {
    constexpr float kBeta = 0.79788456080286535588f;  // sqrt(2 / pi)
    const float cube = __fmul_rn(__fmul_rn(x, x), x);
    inner = tanhf(__fmul_rn(kBeta, __fadd_rn(x, __fmul_rn(0.044715f, cube))));
  } else {
    inner = erff(__fmul_rn(x, 0.70710678118654752440f));
  }
  return __fmul_rn(__fmul_rn(0.5f, x), __fadd_rn(1.0f, inner));
}

template <class T, int kWidth>
__global__ void __launch_bounds__(kActivationThreads)
    gated_activation_rows(TRIESCOPE_CALL TriescopeGatedActivation a) {
  const int i = (blockIdx.x * kActivationThreads + threadIdx.x) * kWidth;
  if (i >= a.dim) return;
  const int64_t row = blockIdx.y;
  const T* in = static_cast<const T*>(a.in) + row * (a.gated ? 2 : 1) * a.dim + i;
  float v[kWidth], up[kWidth];
  load<T, kWidth>(in, v);
  if (a.gated) load<T, kWidth>(in + a.dim, up);
  TRIESCOPE_UNROLL
  for (int e = 0; e < kWidth; ++e) {
    v[e] = activated(a.kind, v[e]);
    if (a.gated) v[e] = __fmul_rn(rounded<T>(v[e]), up[e]);
  }
  store<T, kWidth>(static_cast<T*>(a.out) + row * a.dim + i, v);
}

template <class T>
cudaError_t launch_gated_activation(const TriescopeGatedActivation& a, cudaStream_t stream) {
  constexpr int kVector = kVectorOf<T>;
  const int width = a.dim % kVector == 0 ? kVector : 1;
  const int block = kActivationThreads * width;
  const dim3 grid(static_cast<unsigned>((a.dim - 1) / block + 1), static_cast<unsigned>(a.rows));
  if (width == 1) {
    const auto gated_activation = gated_activation_rows<T, 1>;
    TRIESCOPE_LAUNCH(gated_activation, grid, kActivationThreads, stream, a);
  } else {
    const auto gated_activation = gated_activation_rows<T, kVector>;
    TRIESCOPE_LAUNCH(gated_activation, grid, kActivationThreads, stream, a);
  }
  return cudaGetLastError();
}

}  // namespace

extern "C" int triescope_cuda_gated_activation(const TriescopeGatedActivation* call, void* stream) {
  using triescope::kernels::cuda::vector_aligned;
  using triescope::kernels::cuda::with_element;
  const TriescopeGatedActivation& a = *call;
  const bool fits = a.rows >= 1 && a.rows <= 65535 && a.dim >= 1 && a.kind >= kTriescopeSilu &&
                    a.kind <= kTriescopeGelu && a.in != nullptr && a.out != nullptr &&
                    vector_aligned(a.in) && vector_aligned(a.out);
  if (!fits) return cudaErrorInvalidValue;
  return with_element(a.dtype, [&](auto element) {
    return launch_gated_activation<decltype(element)>(a, static_cast<cudaStream_t>(stream));
  });
}
