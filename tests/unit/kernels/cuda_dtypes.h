// Values as a CUDA kernel's dtypes lay them out in memory. Include after cuda_stand_in.h.
#pragma once

#include <cstring>
#include <vector>

#include "core/base/bf16.h"
#include "core/kernels/device.cuh"
#include "tests/support/cuda_stand_in.h"

namespace triescope::kernels::test {

using Bytes = std::vector<unsigned char>;

// fp32 values in a dtype, and what they are worth there.
inline Bytes encode(std::vector<float>& values, int dtype) {
  const std::size_t size = dtype == kTriescopeF32 ? 4 : 2;
  Bytes bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == kTriescopeF32) {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    } else if (dtype == kTriescopeF16) {
      const __half h = __float2half_rn(values[i]);
      std::memcpy(bytes.data() + 2 * i, &h, 2);
      values[i] = __half2float(h);
    } else {
      const std::uint16_t b = float_to_bf16(values[i]);
      std::memcpy(bytes.data() + 2 * i, &b, 2);
      values[i] = bf16_to_float(b);
    }
  }
  return bytes;
}

inline std::vector<float> decode(const Bytes& bytes, int dtype) {
  const std::size_t size = dtype == kTriescopeF32 ? 4 : 2;
  std::vector<float> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == kTriescopeF32) {
      std::memcpy(&values[i], bytes.data() + 4 * i, 4);
    } else if (dtype == kTriescopeF16) {
      __half h;
      std::memcpy(&h, bytes.data() + 2 * i, 2);
      values[i] = __half2float(h);
    } else {
      std::uint16_t b = 0;
      std::memcpy(&b, bytes.data() + 2 * i, 2);
      values[i] = bf16_to_float(b);
    }
  }
  return values;
}

}  // namespace triescope::kernels::test
