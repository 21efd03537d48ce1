// Element types of device memory: fp32, fp16 and bf16, read as fp32 and rounded to nearest even
// when they are written. Only for kernels' sources.
#pragma once

#include "core/kernels/device.cuh"
#include "core/kernels/launch.cuh"

namespace triescope::kernels::cuda {

template <class T>
struct Element;

template <>
struct Element<float> {
  static __device__ float widen(float v) { return v; }
  static __device__ float narrow(float v) { return v; }
};

template <>
struct Element<__half> {
  static __device__ float widen(__half v) { return __half2float(v); }
  static __device__ __half narrow(float v) { return __float2half_rn(v); }
};

template <>
struct Element<__nv_bfloat16> {
  static __device__ float widen(__nv_bfloat16 v) { return __bfloat162float(v); }
  static __device__ __nv_bfloat16 narrow(float v) { return __float2bfloat16_rn(v); }
};

// Calls f(T{}) with the element type of a TriescopeCudaDType; cudaErrorInvalidValue if there is
// none. f returns a cudaError_t.
template <class F>
cudaError_t with_element(int32_t dtype, F&& f) {
  switch (dtype) {
    case kTriescopeF32:
      return f(float{});
    case kTriescopeF16:
      return f(__half{});
    case kTriescopeBF16:
      return f(__nv_bfloat16{});
    default:
      return cudaErrorInvalidValue;
  }
}

// Number of values in one load of 16 bytes.
template <class T>
inline constexpr int kVectorOf = 16 / static_cast<int>(sizeof(T));

inline bool vector_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

// Read and written at once. It is made of T, so that the compiler knows what it may overlap.
template <class T, int kWidth>
struct alignas(kWidth * sizeof(T)) Values {
  T of[kWidth];
};

// p: aligned to kWidth values.
template <class T, int kWidth>
__device__ void load(const T* p, float* out) {
  const Values<T, kWidth> values = *reinterpret_cast<const Values<T, kWidth>*>(p);
  TRIESCOPE_UNROLL
  for (int i = 0; i < kWidth; ++i) out[i] = Element<T>::widen(values.of[i]);
}

template <class T, int kWidth>
__device__ void store(T* p, const float* in) {
  Values<T, kWidth> values;
  TRIESCOPE_UNROLL
  for (int i = 0; i < kWidth; ++i) values.of[i] = Element<T>::narrow(in[i]);
  *reinterpret_cast<Values<T, kWidth>*>(p) = values;
}

// The value of v after it was written as T.
template <class T>
__device__ float rounded(float v) {
  return Element<T>::widen(Element<T>::narrow(v));
}

}  // namespace triescope::kernels::cuda
