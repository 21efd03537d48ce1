// The block types of 32 values whose codes have 4 bits, with a fifth bit in Q5: a scale (fp16, in
// MXFP4 a byte), and in some a minimum.
// File: d, minimum (if any), fifth bits (32, if any), codes: byte i has value i in its low and
// value i + 16 in its high bits.
// Panel block: codes, word [4][32] (8 values each), in Q5 word [5][32] (spare_bits.h); d, then the
// minimum, fp16 [32] each, or d as byte [32].
#pragma once

#include "core/kernels/cpu/blocks/scaled_codes.h"
#include "core/kernels/cpu/blocks/spare_bits.h"

namespace triescope::kernels {
namespace {

// Code::Weights<V, NV, Decoding> is made from the fp16 numbers. Its call (v, word, at) is the
// weight of the code at bit `at` of a word of column v, or of the word in memory to which `word`
// points. Code::Table, where it has one, are its numbers as bytes: TableBytes, or
// SignedTableBytes.
template <class Code, int kScaleBytes = 2>
struct NibbleBlock {
  static constexpr bool kFifth = Code::kBits == 5, kMinimum = Code::kMinimum;
  static constexpr int kValues = 32, kUnit = 32;
  static constexpr bool kFetchSpread = true;
  static constexpr int kPairRows = 1;
  static constexpr bool kFewerPairs = Code::kFewerPairs;
  static constexpr int kWords = kFifth ? 5 : 4, kBytes = kScaleBytes == 1 ? 1 : 0,
                       kHalves = kBytes == 1 ? 0
                                 : kMinimum  ? 2
                                             : 1;
  static constexpr int kFifthAt = kMinimum ? 4 : kScaleBytes,
                       kCodesAt = kFifthAt + (kFifth ? 4 : 0);
  static constexpr int kFileBytes = kCodesAt + 16;
  static constexpr int kPanelBytes = kFileBytes * kBlockLanes;

  template <class V, class To>
  static inline __attribute__((always_inline)) void repack(const FileBlocks<V>& from,
                                                           const To& to) {
    const auto head = from.sixteen(0);
    if constexpr (kFifth) {
      const auto two = from.sixteen(kCodesAt);
      const auto fifth = kMinimum ? head.at[1] : head.at[0] >> 16 | head.at[1] << 16;
      typename V::Codes codes[8];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        codes[i] = (two.at[i] & 0x0f0f0f0fu) | fifth_bits(fifth, i);
        codes[i + 4] = (two.at[i] >> 4 & 0x0f0f0f0fu) | fifth_bits(fifth, i + 4);
      }
      put_five_bits(codes, 0, to);
    } else {
      const auto two = from.template sixteen<ByteOrder::kPairs>(kCodesAt);
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        to.word(i, low_nibbles(two.at[2 * i], two.at[2 * i + 1]));
        to.word(i + 2, high_nibbles(two.at[2 * i], two.at[2 * i + 1]));
      }
    }
    if constexpr (kScaleBytes == 1) {
      to.lowest_byte(0, head.at[0]);
    } else {
      to.half(0, head.at[0]);
    }
    if constexpr (kMinimum) to.half(1, head.at[0] >> 16);
  }

  template <class V, int NV, Decoding kHow, class Use>
  static inline __attribute__((always_inline)) void decode(
      const Column (&in)[NV], const BlockHalves<NibbleBlock, V, NV>& fp16, int /*unit*/,
      const Use& use) {
    if constexpr (requires { typename Code::Table; } && converts<V, kHow>()) {
      Code::Table::template decode<V, kWords>(in, fp16.at[0], use);
      return;
    }
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

// d * (code - 2^(Bits - 1)): exact, a product of 11 and 5 bits.
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

// d * code + minimum. formats::dequantise rounds the product, which is exact, and the sum: one
// fused operation gives the same bits.
template <int Bits>
struct CodesAndMinimum {
  static constexpr int kBits = Bits;
  static constexpr bool kMinimum = true, kFewerPairs = false;
  template <class V, int NV, Decoding kHow>
  struct Weights {
    const BlockHalves<NibbleBlock<CodesAndMinimum>, V, NV>& fp16;
    CodesBesideMinimum<V, Bits, kHow> of[NV];
    explicit Weights(const decltype(fp16)& d_and_minimum) : fp16(d_and_minimum) {
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) of[v] = CodesBesideMinimum<V, Bits, kHow>(fp16.at[0][v]);
    }
    template <class Codes>
    V operator()(int v, Codes word, int at) const {
      return of[v].plus(word, at, fp16.at[1][v]);
    }
  };
};

using Q4_0 = NibbleBlock<SignedCodes<4>>;
using Q4_1 = NibbleBlock<CodesAndMinimum<4>>;
using Q5_0 = NibbleBlock<SignedCodes<5>>;
using Q5_1 = NibbleBlock<CodesAndMinimum<5>>;

}  // namespace
}  // namespace triescope::kernels
