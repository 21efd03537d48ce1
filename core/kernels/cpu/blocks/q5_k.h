// ggml Q5_K: 256 values of 5 bits; scale and minimum of 6 bits each for every 32, both times an
// fp16. Panel block: codes, word [40][32] (five for 32 values, spare_bits.h); scales, then minima,
// byte [8][32] each; d, then d_min, fp16 [32] each.
// Values: d * scale * code - d_min * minimum. formats::dequantise rounds the products, which are
// exact (11 bits times 6, times 5), and the difference: a fused operation gives the same bits.
#pragma once

#include "core/kernels/cpu/blocks/scaled_codes.h"
#include "core/kernels/cpu/blocks/spare_bits.h"

namespace triescope::kernels {
namespace {

struct Q5_K {
  static constexpr int kValues = 256, kUnit = 32, kFileBytes = 176;
  static constexpr bool kFetchSpread = true;
  static constexpr int kPairRows = 1;
  static constexpr bool kFewerPairs = false;
  static constexpr int kUnitWords = SpareBits<5>::kWords, kWords = 8 * kUnitWords, kBytes = 16,
                       kHalves = 2;
  static constexpr int kPanelBytes = 180 * kBlockLanes;  // scales and minima have a byte each here
  static constexpr int kScales = 5120, kMinima = 5376;   // byte offsets

  template <class V, class To>
  static inline __attribute__((always_inline)) void repack(const FileBlocks<V>& from,
                                                           const To& to) {
    const auto head = from.sixteen(0);
    const FourWords<V> fifth[] = {from.sixteen(16), from.sixteen(32)};
#pragma GCC unroll 4
    for (int pair = 0; pair < 4; ++pair) {  // of units, in the low and the high bits of 32 bytes
      const FourWords<V> two[] = {from.sixteen(48 + pair * 32), from.sixteen(64 + pair * 32)};
#pragma GCC unroll 2
      for (int upper = 0; upper < 2; ++upper) {
        const int unit = pair * 2 + upper;
        typename V::Codes codes[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          const auto low = two[i / 4].at[i % 4], fifths = fifth[i / 4].at[i % 4];
          codes[i] = (low >> (4 * upper) & 0x0f0f0f0fu) | (fifths >> unit & 0x01010101u) << 4;
        }
        put_five_bits(codes, unit * kUnitWords, to);
      }
    }
    put_scales_and_minima(head, to);
    to.half(0, head.at[0]);
    to.half(1, head.at[0] >> 16);
  }

  // unit 0 .. 7: the 32 values of one scale.
  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const BlockHalves<Q5_K, V, NV>& fp16,
                                                           int unit, const Use& use) {
    V minimum[NV];
    CodesBesideMinimum<V, 5, kHow> weights[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const V scale = fp16.at[0][v] * V::number(V::codes(bytes(in[v], kScales, unit)));
      minimum[v] = fp16.at[1][v] * V::number(V::codes(bytes(in[v], kMinima, unit)));
      weights[v] = CodesBesideMinimum<V, 5, kHow>(scale);
    }
    decode_spare_bits<V, 5>(
        in, unit * kUnitWords,
        [&](int v, typename V::Codes word, int at)
            __attribute__((always_inline)) { return weights[v].minus(word, at, minimum[v]); },
        use);
  }
};

}  // namespace
}  // namespace triescope::kernels
