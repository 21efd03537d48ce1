// ggml NVFP4: 64 values of 4 bits, the floating point values of MXFP4, doubled, times half of the scale of
// every 16. A scale has four bits of exponent and three of mantissa (UE4M3, bias 7); all seven set are 0.
// File: scales, byte [4]; codes of each 16 values: byte i has value i in its low and value i + 8 in its
// high bits.
// Panel block: codes, word [8][32] (8 values each); scales, byte [4][32], without the bit that none of
// them has, and 0 for 0x7f.
// A scale has four significant bits and lies between 2^-10 and 240: no product is rounded.
#pragma once

#include "core/kernels/cpu/blocks/mxfp4.h"
#include "core/kernels/cpu/blocks/table_bytes.h"

namespace triescope::kernels {
namespace {

struct Nvfp4 {
  static constexpr int kValues = 64, kUnit = 16, kFileBytes = 36;
  static constexpr bool kFetchSpread = true;
  static constexpr int kPairRows = 1;
  static constexpr bool kFewerPairs = false;
  static constexpr int kUnitWords = 2, kWords = 4 * kUnitWords, kBytes = 4, kHalves = 0;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;
  static constexpr int kScales = kWords * 4 * kBlockLanes;  // byte offset
  using Table = TableBytes<Mxfp4Codes::kTable>;

  template <class V, class To>
  static inline __attribute__((always_inline)) void repack(const FileBlocks<V>& from,
                                                           const To& to) {
    const auto scales = from.sixteen(0).at[0];
    // The highest bit of each byte that is not 0x7f.
    const auto others = scales ^ 0x7f7f7f7fu;
    const auto kept = (((others & 0x7f7f7f7fu) + 0x7f7f7f7fu) | others) & 0x80808080u;
    to.four_bytes(0, scales & (kept - (kept >> 7)));
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const auto two = from.template sixteen<ByteOrder::kPairs>(4 + half * 16);
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const int unit = half * 2 + i;
        to.word(unit * kUnitWords, low_nibbles(two.at[2 * i], two.at[2 * i + 1]));
        to.word(unit * kUnitWords + 1, high_nibbles(two.at[2 * i], two.at[2 * i + 1]));
      }
    }
  }

  // unit 0 .. 3: the 16 values of one scale.
  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const BlockHalves<Nvfp4, V, NV>&,
                                                           int unit, const Use& use) {
    V scales[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) scales[v] = scale<V>(V::codes(bytes(in[v], kScales, unit)));
    if constexpr (converts<V, kHow>()) {
      Table::template decode<V, kUnitWords>(in, scales, use, unit * kUnitWords);
    } else {
      const typename V::Lookup table(Mxfp4Codes::kTable);
#pragma GCC unroll 1
      for (int word = 0; word < kUnitWords; ++word) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          V w[NV];
#pragma GCC unroll 8
          for (int v = 0; v < NV; ++v)
            w[v] = scales[v] * table(V::template codes_from<kHow.loads>(
                                   words(in[v], 0, unit * kUnitWords + word), i * 4));
          use(word * 8 + i, w);
        }
      }
    }
  }

 private:
  // Half of the scale. A float with these bits of mantissa and the exponent e + 120 is the whole one where
  // e > 0. Where e = 0 it is the half and 2^-7; only then does taking that off give less than halving.
  template <class V>
  static V scale(typename V::Codes bits) {
    const V twice = float_of_bits<V>((bits << 20) + (120u << 23));
    return V::min(twice * V::set(0.5f), twice - V::set(0x1p-7f));
  }
};

// There are none: every scale is a byte.
template <class V, int NV>
struct BlockHalves<Nvfp4, V, NV> {
  explicit BlockHalves(const Column (&)[NV]) {}
};

}  // namespace
}  // namespace triescope::kernels
