// ggml Q8_0: d, fp16; 32 signed bytes. Value: code * d.
#pragma once

#include "core/kernels/device_blocks/block.cuh"

namespace triescope::kernels::cuda {
namespace {

struct DeviceQ8_0 : BlockOf32<34, 2> {
  static __device__ void decode(const unsigned char* block, int part, float* w) {
    const float d = half_at(block);
    const unsigned low = word_at<kAlign>(block + 2 + first(part));
    const unsigned high = word_at<kAlign>(block + 2 + first(part) + kHop);
    TRIESCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      w[i] = __fmul_rn(number(static_cast<signed char>(code_of<8>(low, i, 0))), d);
      w[4 + i] = __fmul_rn(number(static_cast<signed char>(code_of<8>(high, i, 0))), d);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels::cuda
