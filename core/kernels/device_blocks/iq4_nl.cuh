// ggml IQ4_NL: d, fp16; 16 bytes of 4-bit codes. Value: d * values[code], of 16 uneven steps.
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceIq4Nl : BlockOf32<18, 2> {
  // -127 -104 -83 -65 -49 -35 -22 -10, then 1 13 25 38 53 69 89 113: signed bytes, the first
  // lowest. In registers, where threads with different codes do not wait for each other.
  static __device__ float value(int code) {
    const unsigned long long bytes = code < 8 ? 0xf6eaddcfbfad9881ull : 0x7159453526190d01ull;
    return number(static_cast<signed char>(bytes >> (code % 8 * 8) & 255));
  }
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block);
    const unsigned codes = word_at<kAlign>(block + 2 + 4 * part);
    TRIESCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      w[i] = __fmul_rn(d, value(code_of<4>(codes, i, 0)));
      w[4 + i] = __fmul_rn(d, value(code_of<4>(codes, i, 4)));
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
