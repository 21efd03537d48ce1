// ggml Q5_0: d, fp16; the fifth bits of 32 codes; 16 bytes of 4-bit codes. Value: d * (code - 16).
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ5_0 : BlockOf32<22, 2> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block);
    const unsigned high = word_at<kAlign>(block + 2) >> (4 * part);
    const unsigned codes = word_at<kAlign>(block + 6 + 4 * part);
    TRIESCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int low_half = static_cast<int>(high >> i & 1) << 4;
      const int high_half = static_cast<int>(high >> (16 + i) & 1) << 4;
      w[i] = __fmul_rn(d, number((code_of<4>(codes, i, 0) | low_half) - 16));
      w[4 + i] = __fmul_rn(d, number((code_of<4>(codes, i, 4) | high_half) - 16));
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
