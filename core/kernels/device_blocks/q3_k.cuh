// ggml Q3_K: the third bits of 256 codes in 32 bytes, a bit plane for every 32 values; 64 bytes of
// 2-bit codes as in Q2_K; 16 scales of 6 bits in 12 bytes; d, fp16. Value: d * (scale - 32) * (code
// - 4), where the code has three bits.
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ3_K : BlockOf256<110, 2> {
  static __device__ int scale(const unsigned char* packed, int k) {
    const int low = k < 8 ? packed[k] & 15 : packed[k - 8] >> 4;
    return (low | ((packed[8 + k % 4] >> (k / 4 * 2)) & 3) << 4) - 32;
  }
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block + 108);
    const unsigned high = word_at<kAlign>(block + quad(part) * 4);
    const unsigned codes = word_at<kAlign>(block + 32 + pair(part) / 2 * 32 + quad(part) * 4);
    TRIESCOPE_UNROLL
    for (int h = 0; h < 2; ++h) {
      const float step = __fmul_rn(d, number(scale(block + 96, (first(part) + h * kHop) / 16)));
      TRIESCOPE_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int code = code_of<2>(codes, i, pair(part) % 2 * 4 + h * 2) |
                         code_of<1>(high, i, pair(part) * 2 + h) << 2;
        w[4 * h + i] = __fmul_rn(step, number(code - 4));
      }
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
