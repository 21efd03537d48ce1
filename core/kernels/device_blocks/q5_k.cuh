// ggml Q5_K: as Q4_K, and the fifth bits of 256 codes in 32 bytes before the others, a bit plane
// for every 32 values.
#pragma once

#include "core/kernels/device_blocks/block.cuh"
#include "core/kernels/device_blocks/scales_6.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ5_K : BlockOf256<176, 4> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block), d_min = half_at(block + 2);
    const unsigned high = word_at<kAlign>(block + 16 + quad(part) * 4);
    const unsigned codes = word_at<kAlign>(block + 48 + 4 * part);
    TRIESCOPE_UNROLL
    for (int h = 0; h < 2; ++h) {
      const auto [scale, minimum] = scale_and_minimum(block + 4, pair(part) * 2 + h);
      const float step = __fmul_rn(d, number(scale)), least = __fmul_rn(d_min, number(minimum));
      TRIESCOPE_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int code = code_of<4>(codes, i, 4 * h) | code_of<1>(high, i, pair(part) * 2 + h) << 4;
        w[4 * h + i] = __fsub_rn(__fmul_rn(step, number(code)), least);
      }
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
