// The block types of 32 values whose codes have 4 bits, and a fifth in Q5: a scale (fp16), in some
// a minimum.
// File: d, minimum (where there is one), fifth bits (32, where there are), codes: byte i has value
// i in its low and value i + 16 in its high bits.
// Panel block: codes, word [4][32] (8 values each), in Q5 word [5][32] (spare_bits.h); d, then the
// minimum, fp16 [32] each.
#pragma once

#include "core/kernels/cpu/blocks/scaled_codes.h"
#include "core/kernels/cpu/blocks/spare_bits.h"

namespace triescope::kernels {
namespace {

// Code::Weights<V, NV, Decoding> is made of the fp16 numbers; of it (v, word, at) is the weight of the
// code at bit `at` of a word of column v, or of the word in memory that `word` points to.
template <class Code>
struct NibbleBlock {
  static constexpr bool kFifth = Code::kBits == 5, kMinimum = Code::kMinimum;
  static constexpr int kValues = 32, kUnit = 32;
  static constexpr bool kFetchSpread = true;
  static constexpr int kPairRows = 1;
  static constexpr bool kFewerPairs = Code::kFewerPairs;
  static constexpr int kWords = kFifth ? 5 : 4, kBytes = 0, kHalves = kMinimum ? 2 : 1;
  static constexpr int kFifthAt = kMinimum ? 4 : 2, kCodesAt = kFifthAt + (kFifth ? 4 : 0);
  static constexpr int kFileBytes = kCodesAt + 16;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;

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

  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(
      const Column (&in)[NV], const BlockHalves<NibbleBlock, V, NV>& fp16, int /*unit*/,
      const Use& use) {
    const typename Code::template Weights<V, NV, kHow> weight(fp16);
    if constexpr (kFifth) {
      decode_spare_bits<V, 5>(in, 0, weight, use);
    } else {
#pragma GCC unroll 1
      for (int word = 0; word < 4; ++word) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          V w[NV];
#pragma GCC unroll 8
          for (int v = 0; v < NV; ++v) w[v] = weight(v, words(in[v], 0, word), i * 4);
          use(word * 8 + i, w);
        }
      }
    }
  }
};

// d * (code - 2^(Bits - 1)): exact, of 11 bits times 5.
template <int Bits>
struct SignedCodes {
  static constexpr int kBits = Bits;
  static constexpr bool kMinimum = false, kFewerPairs = true;
  template <class V, int NV, Decoding kHow>
  struct Weights {
    using Of = SignedWeights<V, Bits, 11, 0, Bits, kHow>;
    Of of[NV];
    explicit Weights(const BlockHalves<NibbleBlock<SignedCodes>, V, NV>& fp16) {
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) of[v] = Of(fp16.at[0][v]);
    }
    V operator()(int v, typename V::Codes word, int at) const { return of[v](word, at); }
    V operator()(int v, const std::uint32_t* word, int at) const {
      return of[v](V::codes(word), at);
    }
  };
};

// d * code + minimum. formats::dequantise rounds the product, which is exact, and the sum: one fused
// operation gives the same bits.
template <int Bits>
struct CodesAndMinimum {
  static constexpr int kBits = Bits;
  static constexpr bool kMinimum = true, kFewerPairs = false;
  template <class V, int NV, Decoding kHow>
  struct Weights {
    const BlockHalves<NibbleBlock<CodesAndMinimum>, V, NV>& fp16;
    typename V::template Small<Bits> numbers;
    explicit Weights(const decltype(fp16)& d_and_minimum) : fp16(d_and_minimum) {}
    V operator()(int v, typename V::Codes word, int at) const {
      return weight(v, numbers(word, at));
    }
    V operator()(int v, const std::uint32_t* word, int at) const {
      return weight(v, numbers.template of<kHow.loads>(word, at));
    }
    V weight(int v, V number) const { return V::fma(fp16.at[0][v], number, fp16.at[1][v]); }
  };
};

}  // namespace
}  // namespace triescope::kernels
