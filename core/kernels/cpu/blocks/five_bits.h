// 32 codes of 5 bits in five words of a panel: word w has the codes 6 w .. 6 w + 5, the first in its
// lowest bits, so that one shift brings each of them down. Its two highest bits are part of the
// last two codes: ten bits, code 31 above code 30, the highest two in word 0.
#pragma once

#include "core/kernels/cpu/blocks/packing.h"

namespace triescope::kernels {
namespace {

constexpr int kFiveBitWords = 5;

// Codes, one a byte, first 0 .. 15, then 16 .. 31; into words [5].
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
  for (int w = 0; w < kFiveBitWords; ++w)
    words[w] = static_cast<std::uint32_t>((six[w] & 0x3fffffff) | (last >> (8 - 2 * w) & 3) << 30);
}

// The fifth bits of 16 codes, which lie in two bytes, each in its place in a byte of its own.
inline Bytes16 fifth_bits(const unsigned char* two_bytes) {
  const Bytes16 bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  Bytes16 bytes;
  for (int i = 0; i < 16; ++i) bytes[i] = two_bytes[i / 8];
  return reinterpret_cast<Bytes16>((bytes & bit) != 0) & 16;
}

// Calls use(i, w) for the 32 codes in order; w: weight(v, code + Offset) of each column. first_row:
// of the words of the panel block.
template <class V, int Offset, int NV, class Weight, class Use>
inline __attribute__((always_inline)) void decode_five_bits(const Column (&in)[NV], int first_row,
                                                            const Weight& weight, const Use& use) {
  const typename V::template FiveBits<Offset> numbers;
  typename V::Codes last[NV];  // its highest 10 bits
  const auto give = [&](int i, const typename V::Codes(&codes)[NV], int at)
      __attribute__((always_inline)) {
    V w[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) w[v] = weight(v, numbers(codes[v], at));
    use(i, w);
  };
#pragma GCC unroll 5
  for (int word = 0; word < kFiveBitWords; ++word) {
    typename V::Codes codes[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      codes[v] = V::codes(words(in[v], 0, first_row + word));
      last[v] = word == 0
                    ? codes[v]
                    : V::select(~(0xffffffffu >> (2 * word)), last[v], codes[v] >> (2 * word));
    }
#pragma GCC unroll 8
    for (int i = 0; i < 6; ++i) give(word * 6 + i, codes, i * 5);
  }
  give(30, last, 22);
  give(31, last, 27);
}

}  // namespace
}  // namespace triescope::kernels
