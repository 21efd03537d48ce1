// ggml Q6_K: 256 values of 6 bits; a signed scale of 8 bits for every 16, times an fp16.
// Panel block: codes, word [48][32] (three for 16 values, spare_bits.h); scales, signed byte
// [16][32]; d, fp16 [32].
// Values: d * scale * (code - 32). formats::dequantise rounds the products, which are exact (11
// bits times 7, times 5).
#pragma once

#include "core/kernels/cpu/blocks/scaled_codes.h"
#include "core/kernels/cpu/blocks/spare_bits.h"

namespace triescope::kernels {
namespace {

struct Q6_K {
  static constexpr int kValues = 256, kUnit = 16, kFileBytes = 210;
  static constexpr bool kFetchSpread = true;
  static constexpr int kPairRows = 1;
  static constexpr bool kFewerPairs = false;
  static constexpr int kUnitWords = SpareBits<6>::kWords, kWords = 16 * kUnitWords;
  static constexpr int kBytes = 16, kHalves = 1;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;
  static constexpr int kScales = 6144;  // byte offset

  template <class V, class To>
  static inline __attribute__((always_inline)) void repack(const FileBlocks<V>& from,
                                                           const To& to) {
    // 128 values have their lower bits in 64 bytes, the first 64 values in the low bits, and their
    // upper bits in 32 bytes, the first 32 values in the lowest bits.
#pragma GCC unroll 4
    for (int sixteenth = 0; sixteenth < 4; ++sixteenth) {
      const int half = sixteenth / 2, at = sixteenth % 2 * 16;
      const FourWords<V> low[] = {from.sixteen(half * 64 + at), from.sixteen(half * 64 + 32 + at)};
      const auto upper = from.sixteen(128 + half * 32 + at);
#pragma GCC unroll 4
      for (int part = 0; part < 4; ++part) {
        typename V::Codes codes[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          codes[i] = (low[part % 2].at[i] >> (part / 2 * 4) & 0x0f0f0f0fu) |
                     (upper.at[i] >> (2 * part) & 0x03030303u) << 4;
        }
        put_six_bits(codes, (half * 8 + part * 2 + sixteenth % 2) * kUnitWords, to);
      }
    }
    to.sixteen_bytes(0, from.sixteen(192));
    const auto end = from.sixteen(kFileBytes - 16);
    to.half(0, end.at[3] >> 16);
  }

  // unit 0 .. 15: the 16 values of one scale.
  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const BlockHalves<Q6_K, V, NV>& fp16,
                                                           int unit, const Use& use) {
    using Weights = ScaledCodes<V, 6, 18, SpareBits<6>::kAt, 6, kHow.zeros>;
    Weights weights[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      weights[v] = Weights(fp16.at[0][v] * V::number(signed_bytes(in[v], kScales, unit)));
    decode_spare_bits<V, 6>(
        in, unit * kUnitWords,
        [&](int v, typename V::Codes word, int at)
            __attribute__((always_inline)) { return weights[v](word, at); },
        use);
  }
};

}  // namespace
}  // namespace triescope::kernels
