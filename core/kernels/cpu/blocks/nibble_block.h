// The block types of 32 values whose codes have 4 bits, and a fifth in Q5: a scale (fp16), in some
// a minimum.
// File: d, minimum (where there is one), fifth bits (32, where there are), codes: byte i has value
// i in its low and value i + 16 in its high bits.
// Panel block: codes, word [4][32] (8 values each); fifth bits, word [32], that of value 8 w + i at
// 4 i + w; d, then the minimum, fp16 [32] each.
// Values: d * code (+ minimum). formats::dequantise rounds the product, which is exact (11 bits
// times 5), and the sum: one fused operation gives the same bits.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

// Code::value<V>() makes what turns the code at a place of a word, in Q5 with the fifth bits beside
// it, into a float.
template <class Code, bool kFifth, bool kMinimum>
struct NibbleBlock {
  static constexpr int kValues = 32, kUnit = 32;
  static constexpr int kWords = kFifth ? 5 : 4, kBytes = 0, kHalves = kMinimum ? 2 : 1;
  static constexpr int kFifthAt = kMinimum ? 4 : 2, kCodesAt = kFifthAt + (kFifth ? 4 : 0);
  static constexpr int kFileBytes = kCodesAt + 16;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;
  static constexpr int kD = kWords * 4 * kBlockLanes, kMinimumAt = kD + 2 * kBlockLanes;

  static void repack(const unsigned char* block, Lane to) {
    put_nibbles<16, 16>(block + kCodesAt, to.words);
    if constexpr (kFifth) {
      to.words[4] = 0;
      for (int w = 0; w < 4; ++w) to.words[4] |= spread(block[kFifthAt + w]) << w;
    }
    put_half(to.halves[0], block);
    if constexpr (kMinimum) put_half(to.halves[1], block + 2);
  }

  template <class V, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV], int /*unit*/,
                                                           const Use& use) {
    V d[NV], minimum[NV];
    typename V::Codes fifth[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      d[v] = V::load(halves(in[v], kD));
      if constexpr (kMinimum) minimum[v] = V::load(halves(in[v], kMinimumAt));
      if constexpr (kFifth) fifth[v] = V::codes(words(in[v], 0, 4));
    }
    const auto value = Code::template value<V>();
#pragma GCC unroll 1
    for (int word = 0; word < 4; ++word) {
      typename V::Codes code[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) code[v] = V::codes(words(in[v], 0, word));
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        V w[NV];
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) {
          const Nibble at(i);
          V number;
          if constexpr (kFifth) {
            number =
                value(at.of(code[v]),
                      at.upper ? fifth[v] >> (kUpperNibble * 4 - 4 + word) : fifth[v] << (4 - word),
                      at.place);
          } else {
            number = value(at.of(code[v]), at.place);
          }
          w[v] = kMinimum ? V::fma(d[v], number, minimum[v]) : d[v] * number;
        }
        use(word * 8 + i, w);
      }
    }
  }
};

// Codes of `Bits` bits that stand for themselves, less an offset.
template <int Bits, int Offset>
struct PlainCode {
  template <class V>
  struct Value {
    V operator()(typename V::Codes c, int at) const {
      return V::template small<Bits, Offset>(c, at);
    }
    V operator()(typename V::Codes c, typename V::Codes fifth, int at) const {
      return V::template joined<4, 1, Offset>(c, fifth, at);
    }
  };
  template <class V>
  static Value<V> value() {
    return {};
  }
};

}  // namespace
}  // namespace triescope::kernels
