// ggml Q3_K: 256 values of 3 bits; a scale of 6 bits for every 16, times an fp16.
// Panel block: low 2 bits, word [16][32] (16 values each); third bits, word [8][32], that of value
// 16 u + i at 2 i + u; scales, signed byte [16][32]; d, fp16 [32].
// Values: d * scale * (code - 4). formats::dequantise rounds the products, which are exact (11 bits
// times 5, times 2).
#pragma once

#include "core/kernels/cpu/blocks/scaled_codes.h"

namespace triescope::kernels {
namespace {

struct Q3_K {
  static constexpr int kValues = 256, kUnit = 16, kFileBytes = 110;
  static constexpr bool kFetchSpread = false;
  static constexpr int kPairRows = 0;
  static constexpr bool kFewerPairs = true;
  static constexpr int kWords = 24, kBytes = 16, kHalves = 1;
  static constexpr int kPanelBytes = 114 * kBlockLanes;  // scales have a byte each here
  static constexpr int kThird = 2048, kScales = 3072;    // byte offsets

  static void repack(const unsigned char* block, Lane to) {
    put_quarters(block + 32, to.words, pairs);
    const Bytes16 first = sixteen(block), second = sixteen(block + 16);
    put_words(to.words + 16, pairs(two_bits<0, 1>(first, second), two_bits<1, 1>(first, second),
                                   two_bits<2, 1>(first, second), two_bits<3, 1>(first, second)));
    put_words(to.words + 20, pairs(two_bits<4, 1>(first, second), two_bits<5, 1>(first, second),
                                   two_bits<6, 1>(first, second), two_bits<7, 1>(first, second)));
    // Scales: 16 of 4 bits in eight bytes, the first eight in the low bits; in the last four bytes
    // two bits more each, the first four in the lowest.
    std::uint64_t low;
    std::uint32_t upper;
    std::memcpy(&low, block + 96, sizeof low);
    std::memcpy(&upper, block + 104, sizeof upper);
    const std::uint64_t fours[] = {low & 0x0f0f0f0f0f0f0f0fu, low >> 4 & 0x0f0f0f0f0f0f0f0fu};
    const std::uint32_t twos[] = {upper, upper >> 2, upper >> 4, upper >> 6};
    Bytes16 scales, more;
    std::memcpy(&scales, fours, sizeof scales);
    std::memcpy(&more, twos, sizeof more);
    scales = (scales | (more & 3) << 4) - 32;
    std::memcpy(to.bytes, &scales, sizeof scales);
    put_half(to.halves[0], block + 108);
  }

  // unit 0 .. 15: the 16 values of one scale.
  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const BlockHalves<Q3_K, V, NV>& fp16,
                                                           int unit, const Use& use) {
    using Weights = SignedWeights<V, 3, 16, 0, 4, kHow>;
    Weights weight[NV];
    typename V::Codes even[NV], odd[NV];  // codes of three bits, four bits from one to the next
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      weight[v] = Weights(fp16.at[0][v] * V::number(signed_bytes(in[v], kScales, unit)));
      const typename V::Codes low = V::codes(words(in[v], 0, unit)),
                              third = V::codes(words(in[v], kThird, unit / 2));
      even[v] = V::select(0x33333333, low, third << (2 - unit % 2));
      odd[v] = V::select(0x33333333, low >> 2, third >> (unit % 2));
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      V w[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) w[v] = weight[v](i % 2 == 0 ? even[v] : odd[v], i / 2 * 4);
      use(i, w);
    }
  }
};

}  // namespace
}  // namespace triescope::kernels
