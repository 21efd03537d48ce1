// ggml Q5_K: 256 values of 5 bits; scale and minimum of 6 bits each for every 32, both times an
// fp16. Panel block: codes, word [40][32] (five for 32 values, five_bits.h); scales, then minima,
// byte [8][32] each; d, then d_min, fp16 [32] each.
// Values: d * scale * code - d_min * minimum. formats::dequantise rounds the products, which are
// exact (11 bits times 6, times 5), and the difference: a fused operation gives the same bits.
#pragma once

#include "core/kernels/cpu/blocks/five_bits.h"

namespace triescope::kernels {
namespace {

struct Q5_K {
  static constexpr int kValues = 256, kUnit = 32, kFileBytes = 176;
  static constexpr bool kFetchSpread = false;
  static constexpr int kWords = 8 * kFiveBitWords, kBytes = 16, kHalves = 2;
  static constexpr int kPanelBytes = 180 * kBlockLanes;  // scales and minima have a byte each here
  static constexpr int kScales = 5120, kMinima = 5376, kD = 5632;  // byte offsets

  static void repack(const unsigned char* block, Lane to) {
    const Bytes16 fifth[] = {sixteen(block + 16), sixteen(block + 32)};
    for (int unit = 0; unit < 8; ++unit) {
      const auto codes = [&](int half) {
        const Bytes16 two = sixteen(block + 48 + unit / 2 * 32 + half * 16);
        return (unit % 2 == 0 ? two & 15 : two >> 4) | (fifth[half] >> unit & 1) << 4;
      };
      put_five_bits(codes(0), codes(1), to.words + unit * kFiveBitWords);
    }
    put_scales_and_minima(block + 4, to.bytes);
    put_half(to.halves[0], block);
    put_half(to.halves[1], block + 2);
  }

  // unit 0 .. 7: the 32 values of one scale.
  template <class V, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV], int unit,
                                                           const Use& use) {
    V scale[NV], minimum[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      scale[v] = V::load(halves(in[v], kD)) * V::number(V::codes(bytes(in[v], kScales, unit)));
      minimum[v] =
          V::load(halves(in[v], kD + 64)) * V::number(V::codes(bytes(in[v], kMinima, unit)));
    }
    decode_five_bits<V, 0>(
        in, unit * kFiveBitWords,
        [&](int v, V number) { return V::fms(scale[v], number, minimum[v]); }, use);
  }
};

}  // namespace
}  // namespace triescope::kernels
