// ggml Q6_K: 256 values of 6 bits; a signed scale of 8 bits for every 16, times an fp16.
// Panel block: codes, word [48][32] (three for 16 values, spare_bits.h); scales, signed byte
// [16][32]; d, fp16 [32].
// Values: d * scale * (code - 32). formats::dequantise rounds the products, which are exact (11 bits
// times 7, times 5).
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

  static void repack(const unsigned char* block, Lane to) {
    // 128 values in 64 bytes, the first 64 in the low bits; their upper bits in 32, the first 32 in
    // the lowest.
    for (int unit = 0; unit < 16; ++unit) {
      const int half = unit / 8, at = unit % 2 * 16, part = unit % 8 / 2;
      const Bytes16 low = sixteen(block + half * 64 + part % 2 * 32 + at);
      const Bytes16 upper = sixteen(block + 128 + half * 32 + at) >> (2 * part) & 3;
      put_six_bits((part < 2 ? low & 15 : low >> 4) | upper << 4, to.words + unit * kUnitWords);
    }
    std::memcpy(to.bytes, block + 192, 16);
    put_half(to.halves[0], block + 208);
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
