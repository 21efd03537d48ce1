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

  template <class V, class To>
  static inline __attribute__((always_inline)) void repack(const FileBlocks<V>& from,
                                                           const To& to) {
    using Codes = typename V::Codes;
    put_quarters(from, 32, to);
    // Third bits: that of value 32 w + i is bit w of byte i. Every fourth of the first sixteen
    // bytes gives bits two apart, and the other bytes' bits go between them.
    const FourWords<V> thirds[] = {from.template sixteen<ByteOrder::kFours>(0),
                                   from.template sixteen<ByteOrder::kFours>(16)};
#pragma GCC unroll 8
    for (int w = 0; w < 8; ++w) {
      Codes bits = {};
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) bits |= (thirds[i % 2].at[i / 2] >> w & 0x01010101u) << i;
      to.word(16 + w, bits);
    }
    // Scales: 16 of 4 bits in eight bytes, the first eight in the low bits; the last four bytes
    // hold two more bits of each, the first four in the lowest bits. The block's last two bytes are
    // d.
    const auto end = from.sixteen(kFileBytes - 16);
    Codes parts[3];
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) parts[i] = end.at[i] >> 16 | end.at[i + 1] << 16;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Codes scale =
          (parts[i % 2] >> (i / 2 * 4) & 0x0f0f0f0fu) | (parts[2] >> (2 * i) & 0x03030303u) << 4;
      // Subtracts 32: bits 5 to 7 are set where it was below 32, and cleared elsewhere.
      const Codes is_less = ~scale & 0x20202020u;
      to.four_bytes(i * 4, (scale & 0x1f1f1f1fu) | is_less | is_less << 1 | is_less << 2);
    }
    to.half(0, end.at[3] >> 16);
  }

  // unit 0 .. 15: the 16 values of one scale.
  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const BlockHalves<Q3_K, V, NV>& fp16,
                                                           int unit, const Use& use) {
    using Weights = SignedWeights<V, 3, 16, 0, 4, kHow>;
    Weights weight[NV];
    typename V::Codes even[NV], odd[NV];  // codes of three bits, at a distance of four bits
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
