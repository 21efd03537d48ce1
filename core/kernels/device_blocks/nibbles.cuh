// ggml Q4_0, Q4_1, Q5_0 and Q5_1: d, fp16; in Q4_1 and Q5_1 a minimum m, fp16; in Q5_0 and Q5_1 the fifth
// bits of 32 codes; 16 bytes of 4-bit codes. Value: d * (code - half of the codes), or d * code + m.
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

template <int bits, bool has_minimum>
struct DeviceNibbles
    : BlockOf32<(has_minimum ? 4 : 2) + (bits == 5 ? 4 : 0) + 16, has_minimum ? 4 : 2> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    constexpr int kHead = has_minimum ? 4 : 2;  // the bytes of d and m, to which words are aligned
    const float d = half_at(block), m = has_minimum ? half_at(block + 2) : 0;
    const auto value = [&](int code) {
      if constexpr (has_minimum) return __fadd_rn(__fmul_rn(d, number(code)), m);
      return __fmul_rn(d, number(code - (1 << (bits - 1))));
    };
    unsigned high = 0;
    if constexpr (bits == 5) high = word_at<kHead>(block + kHead) >> (4 * part);
    const unsigned codes = word_at<kHead>(block + kHead + (bits == 5 ? 4 : 0) + 4 * part);
    TRIESCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      w[i] = value(code_of<4>(codes, i, 0) | static_cast<int>(high >> i & 1) << 4);
      w[4 + i] = value(code_of<4>(codes, i, 4) | static_cast<int>(high >> (16 + i) & 1) << 4);
    }
  }
};
using DeviceQ4_0 = DeviceNibbles<4, false>;
using DeviceQ4_1 = DeviceNibbles<4, true>;
using DeviceQ5_0 = DeviceNibbles<5, false>;
using DeviceQ5_1 = DeviceNibbles<5, true>;

}  // namespace
}  // namespace triescope::kernels::cuda
