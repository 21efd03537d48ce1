// ggml Q5_1: d and m, fp16; the fifth bits of 32 codes; 16 bytes of 4-bit codes. Value: d * code +
// m.
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ5_1 : BlockOf32<24, 4> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block), m = half_at(block + 2);
    const unsigned high = word_at<kAlign>(block + 4) >> (4 * part);
    const unsigned codes = word_at<kAlign>(block + 8 + 4 * part);
    TRIESCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int low_half = static_cast<int>(high >> i & 1) << 4;
      const int high_half = static_cast<int>(high >> (16 + i) & 1) << 4;
      w[i] = __fadd_rn(__fmul_rn(d, number(code_of<4>(codes, i, 0) | low_half)), m);
      w[4 + i] = __fadd_rn(__fmul_rn(d, number(code_of<4>(codes, i, 4) | high_half)), m);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
