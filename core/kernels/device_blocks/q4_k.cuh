// ggml Q4_K: d and d_min, fp16; eight scales and minima of 6 bits; 128 bytes of 4-bit codes, 64
// values in 32 bytes. Value: d * scale * code - d_min * minimum.
#pragma once

#include "core/kernels/device_blocks/block.cuh"
#include "core/kernels/device_blocks/scales_6.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ4_K : BlockOf256<144, 4> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block), d_min = half_at(block + 2);
    const unsigned codes = word_at<kAlign>(block + 16 + 4 * part);
    TRIESCOPE_UNROLL
    for (int h = 0; h < 2; ++h) {
      const auto [scale, minimum] = scale_and_minimum(block + 4, pair(part) * 2 + h);
      const float step = __fmul_rn(d, number(scale)), least = __fmul_rn(d_min, number(minimum));
      TRIESCOPE_UNROLL
      for (int i = 0; i < 4; ++i)
        w[4 * h + i] = __fsub_rn(__fmul_rn(step, number(code_of<4>(codes, i, 4 * h))), least);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
