// ggml Q4_K: 256 values of 4 bits; scale and minimum of 6 bits each for every 32, both times an
// fp16. Panel block: codes, word [32][32] (8 values each); scales, then minima, byte [8][32] each;
// d, then d_min, fp16 [32] each.
// Values: d * scale * code - d_min * minimum. formats::dequantise rounds the products, which are
// exact (11 bits times 6, times 4), and the difference: a fused operation gives the same bits.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"
#include "core/kernels/cpu/blocks/scaled_codes.h"

namespace triescope::kernels {
namespace {

struct Q4_K {
  static constexpr int kValues = 256, kUnit = 32, kFileBytes = 144;
  static constexpr bool kFetchSpread = true;
  static constexpr int kPairRows = 1;
  static constexpr bool kFewerPairs = false;
  static constexpr int kWords = 32, kBytes = 16, kHalves = 2;
  static constexpr int kPanelBytes = 148 * kBlockLanes;  // scales and minima have a byte each here
  static constexpr int kScales = 4096, kMinima = 4352;   // byte offsets

  template <class V, class To>
  static inline __attribute__((always_inline)) void repack(const FileBlocks<V>& from,
                                                           const To& to) {
    const auto head = from.sixteen(0);
    // 16 bytes each: of 32 bytes, first the low codes, then the high ones.
#pragma GCC unroll 8
    for (int part = 0; part < 8; ++part) {
      const auto two = from.template sixteen<ByteOrder::kPairs>(16 + part * 16);
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const int row = part / 2 * 8 + part % 2 * 2 + i;
        to.word(row, low_nibbles(two.at[2 * i], two.at[2 * i + 1]));
        to.word(row + 4, high_nibbles(two.at[2 * i], two.at[2 * i + 1]));
      }
    }
    put_scales_and_minima(head, to);
    to.half(0, head.at[0]);
    to.half(1, head.at[0] >> 16);
  }

  // unit 0 .. 7: the 32 values of one scale.
  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const BlockHalves<Q4_K, V, NV>& fp16,
                                                           int unit, const Use& use) {
    V minimum[NV];
    CodesBesideMinimum<V, 4, kHow> weights[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const V scale = fp16.at[0][v] * V::number(V::codes(bytes(in[v], kScales, unit)));
      minimum[v] = fp16.at[1][v] * V::number(V::codes(bytes(in[v], kMinima, unit)));
      weights[v] = CodesBesideMinimum<V, 4, kHow>(scale);
    }
#pragma GCC unroll 1
    for (int word = 0; word < 4; ++word) {
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        V w[NV];
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v)
          w[v] = weights[v].minus(words(in[v], 0, unit * 4 + word), i * 4, minimum[v]);
        use(word * 8 + i, w);
      }
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
