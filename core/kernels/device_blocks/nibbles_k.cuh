// ggml Q4_K and Q5_K: d and d_min, fp16; eight scales and minima of 6 bits in 12 bytes; in Q5_K the fifth
// bits of 256 codes in 32 bytes, a bit plane for every 32 values; 128 bytes of 4-bit codes, 64 values in 32
// bytes. Value: d * scale * code - d_min * minimum.
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

template <int bits>
struct DeviceNibblesK : BlockOf256<bits == 5 ? 176 : 144, 4> {
  using Block = BlockOf256<bits == 5 ? 176 : 144, 4>;
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block), d_min = half_at(block + 2);
    const int pair = Block::pair(part);
    unsigned high = 0;
    if constexpr (bits == 5) high = word_at<4>(block + 16 + Block::quad(part) * 4);
    const unsigned codes = word_at<4>(block + (bits == 5 ? 48 : 16) + 4 * part);
    TRIESCOPE_UNROLL
    for (int h = 0; h < 2; ++h) {
      const auto [scale, minimum] = scale_and_minimum(block + 4, pair * 2 + h);
      const float step = __fmul_rn(d, number(scale)), least = __fmul_rn(d_min, number(minimum));
      TRIESCOPE_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int code = code_of<4>(codes, i, 4 * h) | code_of<1>(high, i, pair * 2 + h) << 4;
        w[4 * h + i] = __fsub_rn(__fmul_rn(step, number(code)), least);
      }
    }
  }
};
using DeviceQ4_K = DeviceNibblesK<4>;
using DeviceQ5_K = DeviceNibblesK<5>;

}  // namespace
}  // namespace triescope::kernels::cuda
