// Dense weights of 16 bits, T = __half or __nv_bfloat16, read like blocks of eight: for products
// whose results must not be rounded to T.
#pragma once

#include "core/kernels/element.cuh"

namespace triescope::kernels::cuda {
namespace {

template <class T>
struct DeviceDense {
  static constexpr int kValues = 8, kBytes = 16, kAlign = 16, kParts = 1, kHop = 4;
  static __device__ int first(int /*part*/) { return 0; }
  static __device__ void decode(const unsigned char* block, int /*part*/, float* w) {
    const T* values = reinterpret_cast<const T*>(block);
    load<T, 4>(values, w);
    load<T, 4>(values + 4, w + 4);
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
