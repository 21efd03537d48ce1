// ggml Q3_K: 256 values of 3 bits; a scale of 6 bits for every 16, times an fp16.
// Panel block: low 2 bits, word [16][32] (16 values each); third bits, word [8][32], that of value
// 16 u + i at 2 i + u; scales, signed byte [16][32]; d, fp16 [32].
// Values: d * scale * (code - 4), with the operations of formats::dequantise in their order.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

struct Q3_K {
  static constexpr int kValues = 256, kUnit = 16, kFileBytes = 110;
  static constexpr int kPanelBytes = 114 * kBlockLanes;           // scales have a byte each here
  static constexpr int kThird = 2048, kScales = 3072, kD = 3584;  // byte offsets

  static void repack(const unsigned char* block, int lane, unsigned char* out) {
    put_two_bits(block + 32, lane, out);
    for (int e = 0; e < 256; e += 32) {
      std::uint32_t bits = 0;
      for (int i = 0; i < 32; i += 8)
        bits |= spread<2>(eight_bits(block, e + i)) << (i % 16 * 2 + i / 16);
      put(out + kThird, e / 32, lane, bits);
    }
    const unsigned char* packed = block + 96;
    for (int s = 0; s < 16; ++s) {
      const int low = s < 8 ? packed[s] & 15 : packed[s - 8] >> 4;
      const int upper = (packed[8 + s % 4] >> (s / 4 * 2)) & 3;
      out[kScales + s * kBlockLanes + lane] = static_cast<unsigned char>((low | upper << 4) - 32);
    }
    put_half(out + kD, lane, block + 108);
  }

  // unit 0 .. 15: the 16 values of one scale.
  template <class V, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV], int unit,
                                                           const Use& use) {
    V d[NV], scale[NV];
    typename V::Codes code[NV], high[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) d[v] = V::load(halves(in[v], kD));
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      scale[v] = d[v] * V::number(signed_bytes(in[v], kScales, unit));
      code[v] = V::codes(words(in[v], 0, unit));
      high[v] = V::codes(words(in[v], kThird, unit / 2));
    }
    const int second = unit % 2;
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const Pair at(i);
      V w[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) {
        const typename V::Codes third =
            at.upper ? high[v] >> (kUpperPair * 2 - 2 + second) : high[v] << (2 - second);
        w[v] = scale[v] * V::template joined<2, 1, -4>(at.of(code[v]), third, at.place);
      }
      use(i, w);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
