// ggml Q2_K: scale and minimum of 4 bits each for every 16 values, in a byte; 64 bytes of 2-bit
// codes, 128 values in 32 bytes; d and d_min, fp16. Value: d * scale * code - d_min * minimum.
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ2_K : BlockOf256<84, 4> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block + 80), d_min = half_at(block + 82);
    const unsigned codes = word_at<kAlign>(block + 16 + pair(part) / 2 * 32 + quad(part) * 4);
    TRIESCOPE_UNROLL
    for (int h = 0; h < 2; ++h) {
      const int scale = block[(first(part) + h * kHop) / 16];
      const float step = __fmul_rn(d, number(scale & 15)),
                  least = __fmul_rn(d_min, number(scale >> 4));
      TRIESCOPE_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int code = code_of<2>(codes, i, pair(part) % 2 * 4 + h * 2);
        w[4 * h + i] = __fsub_rn(__fmul_rn(step, number(code)), least);
      }
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
