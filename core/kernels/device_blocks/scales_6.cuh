// The eight scales and minima of Q4_K and Q5_K, 6 bits each in 12 bytes.
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct ScaleAndMinimum {
  int scale, minimum;
};

__device__ inline ScaleAndMinimum scale_and_minimum(const unsigned char* packed, int k) {
  if (k < 4) return {packed[k] & 63, packed[4 + k] & 63};
  const int last = packed[4 + k];
  return {(last & 15) | ((packed[k - 4] >> 2) & 48), (last >> 4) | ((packed[k] >> 2) & 48)};
}

}  // namespace
}  // namespace triescope::kernels::cuda
