// The block types of 32 values whose codes have 4 bits, and a fifth in Q5: a scale (fp16), in some
// a minimum.
// File: d, minimum (where there is one), fifth bits (32, where there are), codes: byte i has value
// i in its low and value i + 16 in its high bits.
// Panel block: codes, word [4][32] (8 values each), in Q5 word [5][32] (five_bits.h); d, then the
// minimum, fp16 [32] each.
// Values: d * code (+ minimum). formats::dequantise rounds the product, which is exact (11 bits
// times 5), and the sum: one fused operation gives the same bits.
#pragma once

#include "core/kernels/cpu/blocks/five_bits.h"

namespace triescope::kernels {
namespace {

// Code::Numbers<V> makes floats of the codes of a word; of 5 bits: Code::kOffset is added to them.
template <class Code, bool kMinimum>
struct NibbleBlock {
  static constexpr bool kFifth = Code::kFifth;
  static constexpr int kValues = 32, kUnit = 32;
  static constexpr bool kFetchSpread = !kFifth;
  static constexpr int kWords = kFifth ? 5 : 4, kBytes = 0, kHalves = kMinimum ? 2 : 1;
  static constexpr int kFifthAt = kMinimum ? 4 : 2, kCodesAt = kFifthAt + (kFifth ? 4 : 0);
  static constexpr int kFileBytes = kCodesAt + 16;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;
  static constexpr int kD = kWords * 4 * kBlockLanes, kMinimumAt = kD + 2 * kBlockLanes;

  static void repack(const unsigned char* block, Lane to) {
    if constexpr (kFifth) {
      const Bytes16 both = sixteen(block + kCodesAt);
      put_five_bits((both & 15) | fifth_bits(block + kFifthAt),
                    (both >> 4) | fifth_bits(block + kFifthAt + 2), to.words);
    } else {
      put_nibbles<16, 16>(block + kCodesAt, to.words);
    }
    put_half(to.halves[0], block);
    if constexpr (kMinimum) put_half(to.halves[1], block + 2);
  }

  template <class V, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV], int /*unit*/,
                                                           const Use& use) {
    V d[NV], minimum[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      d[v] = V::load(halves(in[v], kD));
      if constexpr (kMinimum) minimum[v] = V::load(halves(in[v], kMinimumAt));
    }
    const auto weight = [&](int v, V number) __attribute__((always_inline)) {
      return kMinimum ? V::fma(d[v], number, minimum[v]) : d[v] * number;
    };
    if constexpr (kFifth) {
      decode_five_bits<V, Code::kOffset>(in, 0, weight, use);
    } else {
      const typename Code::template Numbers<V> numbers;
#pragma GCC unroll 1
      for (int word = 0; word < 4; ++word) {
        typename V::Codes code[NV];
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v) code[v] = V::codes(words(in[v], 0, word));
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          V w[NV];
#pragma GCC unroll 8
          for (int v = 0; v < NV; ++v) w[v] = weight(v, numbers(code[v], i * 4));
          use(word * 8 + i, w);
        }
      }
    }
  }
};

// Codes of 4 bits that stand for themselves, plus an offset; and of 5 bits.
template <int Offset>
struct FourBits {
  static constexpr bool kFifth = false;
  template <class V>
  using Numbers = typename V::template Small<4, Offset>;
};
template <int Offset>
struct FiveBits {
  static constexpr bool kFifth = true;
  static constexpr int kOffset = Offset;
};

}  // namespace
}  // namespace triescope::kernels
