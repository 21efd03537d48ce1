// ggml Q4_1: d and m, fp16; 16 bytes of 4-bit codes. Value: d * code + m.
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ4_1 : BlockOf32<20, 4> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block), m = half_at(block + 2);
    const unsigned codes = word_at<kAlign>(block + 4 + 4 * part);
    TRIESCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      w[i] = __fadd_rn(__fmul_rn(d, number(code_of<4>(codes, i, 0))), m);
      w[4 + i] = __fadd_rn(__fmul_rn(d, number(code_of<4>(codes, i, 4))), m);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
