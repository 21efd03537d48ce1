// Codes of 5 or 6 bits in words of a panel: each word has as many as fit, one after another, so that
// one shift brings each of them to where it is used, and two bits to spare, which make up the last
// codes. 32 codes of 5 bits in five words: six each from bit 0 on, the spare bits above them, which
// are codes 31 and 30. 16 codes of 6 bits in three words: five each from bit 2 on, the spare bits
// below them, which are code 15. The highest spare bits are in word 0.
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

// Codes of 5 bits, one a byte, first 0 .. 15, then 16 .. 31; into words [5].
inline void put_five_bits(Bytes16 first, Bytes16 second, std::uint32_t* words) {
  using Words4 [[gnu::vector_size(16)]] = std::uint32_t;
  using Long2 [[gnu::vector_size(16)]] = std::uint64_t;
  // Eight codes side by side: 40 bits.
  const auto eights = [](Bytes16 codes) {
    const auto two = reinterpret_cast<Halves8>(codes);
    const auto four = reinterpret_cast<Words4>((two & 0x1f) | (two >> 3 & 0x3e0));
    const auto eight = reinterpret_cast<Long2>((four & 0x3ff) | (four >> 6 & 0xffc00));
    return (eight & 0xfffff) | (eight >> 12 & 0xfffff00000u);
  };
  const Long2 a = eights(first), b = eights(second);
  const std::uint64_t six[] = {a[0], a[0] >> 30 | a[1] << 10, a[1] >> 20 | b[0] << 20, b[0] >> 10,
                               b[1]};
  const std::uint64_t last = b[1] >> 30;
  for (int w = 0; w < 5; ++w)
    words[w] = static_cast<std::uint32_t>((six[w] & 0x3fffffff) | (last >> (8 - 2 * w) & 3) << 30);
}

// The fifth bits of 16 codes, which lie in two bytes, each in its place in a byte of its own.
inline Bytes16 fifth_bits(const unsigned char* two_bytes) {
  const Bytes16 bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  Bytes16 bytes;
  for (int i = 0; i < 16; ++i) bytes[i] = two_bytes[i / 8];
  return reinterpret_cast<Bytes16>((bytes & bit) != 0) & 16;
}

// Sixteen codes of 6 bits, one a byte, into words [3].
inline void put_six_bits(Bytes16 codes, std::uint32_t* words) {
  using Words4 [[gnu::vector_size(16)]] = std::uint32_t;
  const auto two = reinterpret_cast<Halves8>(codes);
  const auto four = reinterpret_cast<Words4>((two & 0x3f) | (two >> 2 & 0xfc0));
  // Four codes side by side: 24 bits.
  const Words4 fours = (four & 0xfff) | (four >> 4 & 0xfff000);
  const std::uint32_t five[] = {fours[0] | fours[1] << 24, fours[1] >> 6 | fours[2] << 18,
                                fours[2] >> 12 | fours[3] << 12};
  const std::uint32_t last = fours[3] >> 18;
  for (int w = 0; w < 3; ++w) words[w] = five[w] << 2 | (last >> (4 - 2 * w) & 3);
}

// Calls use(i, w) for the codes in order; w: weight(v, word, at) of each column, of the code at bit
// `at` of the word. first_row: of the words of the panel block.
template <class V, int Bits, int NV, class Weight, class Use>
inline __attribute__((always_inline)) void decode_spare_bits(const Column (&in)[NV], int first_row,
                                                             const Weight& weight, const Use& use) {
  using Form = SpareBits<Bits>;
  // The last codes come together in the highest bits, or where the middle codes of 6 bits are.
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
