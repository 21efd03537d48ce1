// ggml Q6_K: the low 4 bits of the codes in 128 bytes, 128 values in 64 of them; the upper 2 in 64
// bytes as in Q2_K; a signed scale of 8 bits for every 16 values; d, fp16. Value: d * scale * (code
// - 32).
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ6_K : BlockOf256<210, 2> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block + 208);
    const unsigned char* low = block + pair(part) / 2 * 64 + quad(part) * 4;
    const unsigned upper = word_at<kAlign>(block + 128 + pair(part) / 2 * 32 + quad(part) * 4);
    const int odd = pair(part) % 2;
    TRIESCOPE_UNROLL
    for (int h = 0; h < 2; ++h) {
      const unsigned codes = word_at<kAlign>(low + h * kHop);
      const int scale = static_cast<signed char>(block[192 + (first(part) + h * kHop) / 16]);
      const float step = __fmul_rn(d, number(scale));
      TRIESCOPE_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int code = code_of<4>(codes, i, odd * 4) | code_of<2>(upper, i, odd * 4 + h * 2) << 4;
        w[4 * h + i] = __fmul_rn(step, number(code - 32));
      }
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
