// Integers of a few bits, sixteen at a time, out of the bytes of a file's block and into the words of
// a panel, and the parts that several block types share. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/kernels/cpu/half.h"
#include "core/kernels/cpu/tuning.h"

namespace triescope::kernels {
namespace {

constexpr int kBlockLanes = 32;  // outputs of a panel

// What repack() makes of a block of the file: the parts that one output has in a panel block.
struct Lane {
  std::uint32_t* words;
  std::uint8_t* bytes;
  std::uint16_t* halves;
};

using Bytes16 [[gnu::vector_size(16)]] = std::uint8_t;
using Halves8 [[gnu::vector_size(16)]] = std::uint16_t;

inline Bytes16 sixteen(const unsigned char* at) {
  Bytes16 bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// Integers of Bits bits, one in each byte of `a`, then of `b`: two next to each other in one byte,
// the first in its lowest bits.
template <int Bits>
Bytes16 join(Bytes16 a, Bytes16 b) {
  const auto two = [](Bytes16 v) {
    const auto x = reinterpret_cast<Halves8>(v);
    return reinterpret_cast<Bytes16>(x | x >> (8 - Bits));
  };
  return __builtin_shufflevector(two(a), two(b), 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
                                 28, 30);
}

// The first eight bytes of `a`, then those of `b`, each with the one eight bytes further on in the
// bits from Shift on.
template <int Shift>
Bytes16 fold(Bytes16 a, Bytes16 b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) |
         __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
             << Shift;
}

// Four words in one vector, to[0], to[Stride] and so on.
template <int Stride = 1>
void put_words(std::uint32_t* to, Bytes16 words) {
  std::uint32_t four[4];
  std::memcpy(four, &words, sizeof four);
  for (int i = 0; i < 4; ++i) to[i * Stride] = four[i];
}

// Four vectors of integers of 2 bits: a word of each.
inline Bytes16 pairs(Bytes16 a, Bytes16 b, Bytes16 c, Bytes16 d) {
  return join<4>(join<2>(a, b), join<2>(c, d));
}

// Bit Bit of sixteen bytes, and that of sixteen others Shift bits further up.
template <int Bit, int Shift>
Bytes16 two_bits(Bytes16 a, Bytes16 b) {
  return (a >> Bit & 1) | (b >> Bit & 1) << Shift;
}

inline void put_half(std::uint16_t& to, const unsigned char* half) {
  std::memcpy(&to, half, sizeof to);
}

// Where a vector of outputs begins: a panel block, and its lane.
struct Column {
  const unsigned char* block;
  int lane;
};
// What row `row` of the words (bytes, fp16 numbers) at byte `plane` of a panel block has for it.
inline const std::uint32_t* words(Column at, int plane, int row) {
  return reinterpret_cast<const std::uint32_t*>(at.block + plane) + row * kBlockLanes + at.lane;
}
inline const std::uint8_t* bytes(Column at, int plane, int row) {
  return at.block + plane + row * kBlockLanes + at.lane;
}
inline const std::int8_t* signed_bytes(Column at, int plane, int row) {
  return reinterpret_cast<const std::int8_t*>(bytes(at, plane, row));
}
inline const Half* halves(Column at, int plane) {
  return reinterpret_cast<const Half*>(at.block + plane) + at.lane;
}

// The fp16 numbers of a panel block, which lie behind its words and bytes, as floats: the n-th of
// column v in at[n][v].
template <class Block, class V, int NV>
struct BlockHalves {
  V at[Block::kHalves][NV];
  explicit BlockHalves(const Column (&in)[NV]) {
    constexpr int kPlane = (4 * Block::kWords + Block::kBytes) * kBlockLanes;
#pragma GCC unroll 2
    for (int n = 0; n < Block::kHalves; ++n) {
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) at[n][v] = V::load(halves(in[v], kPlane + n * 2 * kBlockLanes));
    }
  }
};

// Codes of 4 bits in Count bytes, two to a byte: the low ones of Together bytes, then their high
// ones, and so on. Eight to a word.
template <int Together, int Count>
void put_nibbles(const unsigned char* codes, std::uint32_t* words) {
  // The low (high) codes of two bytes next to each other, joined in the first of the two.
  const auto low = [](Halves8 v) { return (v & 0x0f) | (v >> 4 & 0xf0); };
  const auto high = [](Halves8 v) { return (v >> 4 & 0x0f) | (v >> 8 & 0xf0); };
  const auto put = [](Halves8 a, Halves8 b, std::uint32_t* to) {
    const Bytes16 firsts =
        __builtin_shufflevector(reinterpret_cast<Bytes16>(a), reinterpret_cast<Bytes16>(b), 0, 2, 4,
                                6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    std::memcpy(to, &firsts, sizeof firsts);
  };
  const auto eight = [&](int at) { return reinterpret_cast<Halves8>(sixteen(codes + at)); };
  if constexpr (Together == 16) {
    static_assert(Count == 16);
    put(low(eight(0)), high(eight(0)), words);
  } else {
    static_assert(Together % 32 == 0 && Count % Together == 0);
#pragma GCC unroll 8
    for (int at = 0; at < Count; at += 32) {
      const Halves8 a = eight(at), b = eight(at + 16);
      std::uint32_t* to = words + at / Together * (Together / 4) + at % Together / 8;
      put(low(a), low(b), to);
      put(high(a), high(b), to + Together / 8);
    }
  }
}

// 256 codes of 2 bits, four to a byte: 128 of them in 32 bytes, the first 32 in the lowest bits.
// pack makes a word each of the 16 codes of four vectors; into words [16].
template <class Pack>
void put_quarters(const unsigned char* codes, std::uint32_t* words, const Pack& pack) {
  for (int part = 0; part < 4; ++part) {
    const Bytes16 all = sixteen(codes + part * 16);
    put_words<2>(words + part / 2 * 8 + part % 2,
                 pack(all & 3, all >> 2 & 3, all >> 4 & 3, all >> 6));
  }
}

// The eight 6-bit scales and minima of Q4_K and Q5_K, in 12 bytes. Into bytes [8] each.
inline void put_scales_and_minima(const unsigned char* packed, std::uint8_t* out) {
  std::uint32_t scales, minima, last;
  std::memcpy(&scales, packed, 4);
  std::memcpy(&minima, packed + 4, 4);
  std::memcpy(&last, packed + 8, 4);
  const std::uint32_t words[] = {
      scales & 0x3f3f3f3fu, (last & 0x0f0f0f0fu) | (scales >> 2 & 0x30303030u),
      minima & 0x3f3f3f3fu, (last >> 4 & 0x0f0f0f0fu) | (minima >> 2 & 0x30303030u)};
  std::memcpy(out, words, sizeof words);
}

}  // namespace
}  // namespace triescope::kernels
