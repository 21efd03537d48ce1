// ggml Q6_K: 256 values of 6 bits; a signed scale of 8 bits for every 16, times an fp16.
// Panel block: low 4 bits, word [32][32] (8 values each); upper 2 bits, word [16][32] (16 values
// each);
// scales, signed byte [16][32]; d, fp16 [32].
// Values: d * scale * (code - 32), with the operations of formats::dequantise in their order.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

struct Q6_K {
  static constexpr int kValues = 256, kUnit = 16, kFileBytes = 210;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;
  static constexpr int kUpper = 4096, kScales = 6144, kD = 6656;  // byte offsets

  static void repack(const unsigned char* block, int lane, unsigned char* out) {
    for (int e = 0; e < 256; e += 8)
      put(out, e / 8, lane, squeeze_at<4>(block + e / 128 * 64 + e % 64, e % 128 / 64 * 4));
    put_two_bits(block + 128, lane, out + kUpper);
    for (int s = 0; s < 16; ++s) out[kScales + s * kBlockLanes + lane] = block[192 + s];
    put_half(out + kD, lane, block + 208);
  }

  // unit 0 .. 15: the 16 values of one scale.
  template <class V, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const unsigned char* in, int unit, int n,
                                                           const Use& use) {
    V d[NV], scale[NV];
    typename V::Codes code[NV], high[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) d[v] = V::load(halves(in + kD, n + v * V::kLanes));
    const typename V::template Small<6, -32> value;
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      scale[v] = d[v] * V::number(reinterpret_cast<const std::int8_t*>(in) + kScales +
                                  unit * kBlockLanes + n + v * V::kLanes);
      high[v] = V::codes(words(in + kUpper, unit, n + v * V::kLanes));
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      V w[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) {
        if (i % 8 == 0) code[v] = V::codes(words(in, unit * 2 + i / 8, n + v * V::kLanes));
        const typename V::Codes upper = i < 2 ? high[v] << (4 - i * 2) : high[v] >> (i * 2 - 4);
        const typename V::Codes six = V::merge(code[v] >> (i % 8 * 4), upper, 15);
        w[v] = scale[v] * value(six);
      }
      use(i, w);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
