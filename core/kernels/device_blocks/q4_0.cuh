// ggml Q4_0: d, fp16; 16 bytes of 4-bit codes. Value: d * (code - 8).
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ4_0 : BlockOf32<18, 2> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block);
    const unsigned codes = word_at<kAlign>(block + 2 + 4 * part);
    TRIESCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      w[i] = __fmul_rn(d, number(code_of<4>(codes, i, 0) - 8));
      w[4 + i] = __fmul_rn(d, number(code_of<4>(codes, i, 4) - 8));
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
