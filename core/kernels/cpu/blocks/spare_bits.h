// Codes of 5 or 6 bits in words of a panel. Each word holds as many codes as fit, one after
// another, so that one shift moves each to where it is used. The two spare bits of each word make
// up the last codes. 32 codes of 5 bits take five words: six codes each from bit 0 on, and above
// them the spare bits, which are codes 31 and 30. 16 codes of 6 bits take three words: five codes
// each from bit 2 on, and below them the spare bits, which are code 15. The highest spare bits are
// in word 0.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

template <int Bits>
struct SpareBits {
  static_assert(Bits == 5 || Bits == 6);
  static constexpr int kWords = Bits == 5 ? 5 : 3, kEach = 32 / Bits;
  static constexpr int kAt = Bits == 5 ? 0 : 2;  // bit of a word's first code
  static constexpr int kLast = kWords * kEach;   // the first code of spare bits
  static constexpr int kCodes = kLast + 2 * kWords / Bits;
};

// Joins codes of Bits bits, one in each byte of a word, side by side.
template <int Bits, class Codes>
Codes side_by_side(Codes codes) {
  constexpr std::uint32_t kOne = (1u << Bits) - 1, kTwo = (1u << 2 * Bits) - 1;
  constexpr std::uint32_t kBoth = kOne | kOne << 16;
  const Codes two = (codes & kBoth) | (codes >> (8 - Bits) & kBoth << Bits);
  return (two & kTwo) | (two >> (16 - 2 * Bits) & kTwo << 2 * Bits);
}

// Packs codes of 5 bits, one in each byte of eight words, into five rows of words from `row` on.
template <class Codes, class To>
inline __attribute__((always_inline)) void put_five_bits(const Codes (&codes)[8], int row,
                                                         const To& to) {
  Codes fours[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) fours[i] = side_by_side<5>(codes[i]);
  const Codes six[] = {fours[0] | fours[1] << 20, fours[1] >> 10 | fours[2] << 10,
                       fours[3] | fours[4] << 20, fours[4] >> 10 | fours[5] << 10,
                       fours[6] | fours[7] << 20};
  const Codes last = fours[7] >> 10;
#pragma GCC unroll 5
  for (int w = 0; w < 5; ++w) to.word(row + w, (six[w] & 0x3fffffffu) | last >> (8 - 2 * w) << 30);
}

// Bits 4 i .. 4 i + 3 of each word, each in a byte of its own, as the fifth bits of codes.
template <class Codes>
Codes fifth_bits(Codes all, int i) {
  return (all >> (4 * i) & 15u) * 0x02040810u & 0x10101010u;
}

// Packs sixteen codes of 6 bits, one in each byte of four words, into three rows of words from
// `row` on.
template <class Codes, class To>
inline __attribute__((always_inline)) void put_six_bits(const Codes (&codes)[4], int row,
                                                        const To& to) {
  Codes fours[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) fours[i] = side_by_side<6>(codes[i]);
  const Codes five[] = {fours[0] | fours[1] << 24, fours[1] >> 6 | fours[2] << 18,
                        fours[2] >> 12 | fours[3] << 12};
  const Codes last = fours[3] >> 18;
#pragma GCC unroll 3
  for (int w = 0; w < 3; ++w) to.word(row + w, five[w] << 2 | (last >> (4 - 2 * w) & 3u));
}

// Calls use(i, w) for the codes in order. w holds weight(v, word, at) for each column, of the code
// at bit `at` of the word. first_row: the first row of words in the panel block.
template <class V, int Bits, int NV, class Weight, class Use>
inline __attribute__((always_inline)) void decode_spare_bits(const Column (&in)[NV], int first_row,
                                                             const Weight& weight, const Use& use) {
  using Form = SpareBits<Bits>;
  // The spare bits are joined in the highest bits, or where the middle codes of 6 bits are.
  constexpr int kSpareAt = Form::kAt == 0 ? 30 : 0, kLastAt = Form::kAt == 0 ? 22 : 14;
  typename V::Codes last[NV];
  const auto give = [&](int i, const typename V::Codes(&codes)[NV], int at)
      __attribute__((always_inline)) {
    V w[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) w[v] = weight(v, codes[v], at);
    use(i, w);
  };
#pragma GCC unroll 5
  for (int word = 0; word < Form::kWords; ++word) {
    const int to = kLastAt + 2 * (Form::kWords - 1 - word), down = kSpareAt - to;
    typename V::Codes codes[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      codes[v] = V::codes(words(in[v], 0, first_row + word));
      const typename V::Codes spare = down < 0 ? codes[v] << -down : codes[v] >> down;
      last[v] = word == 0 ? spare : V::select(3u << to, spare, last[v]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Form::kEach; ++i) give(word * Form::kEach + i, codes, Form::kAt + i * Bits);
  }
#pragma GCC unroll 2
  for (int i = Form::kLast; i < Form::kCodes; ++i)
    give(i, last, kLastAt + (i - Form::kLast) * Bits);
}

}  // namespace
}  // namespace triescope::kernels
