// Integers of a few bits, eight at a time, out of the bytes of a file's block and into the words of
// a panel, and the parts that several block types share. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/kernels/cpu/half.h"

namespace triescope::kernels {
namespace {

constexpr int kBlockLanes = 32;  // outputs of a panel

// The lowest Bits bits of eight bytes, side by side: byte 0's lowest.
template <int Bits>
std::uint32_t squeeze(std::uint64_t bytes) {
  constexpr std::uint64_t kOne = (1u << Bits) - 1, kTwo = (1u << 2 * Bits) - 1,
                          kFour = (std::uint64_t{1} << 4 * Bits) - 1;
  bytes &= 0x0101010101010101u * kOne;
  bytes = (bytes | bytes >> (8 - Bits)) & 0x0001000100010001u * kTwo;
  bytes = (bytes | bytes >> (16 - 2 * Bits)) & 0x0000000100000001u * kFour;
  return static_cast<std::uint32_t>(bytes | bytes >> (32 - 4 * Bits));
}

// The same of eight bytes at `at`, each shifted right first.
template <int Bits>
std::uint32_t squeeze_at(const unsigned char* at, int shift) {
  std::uint64_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return squeeze<Bits>(bytes >> shift);
}

// Bit i of a byte at i * Stride, for strides of 2 and 4.
template <int Stride>
std::uint32_t spread(std::uint32_t byte) {
  if constexpr (Stride == 4) {
    byte = (byte | byte << 12) & 0x000f000fu;
    byte = (byte | byte << 6) & 0x03030303u;
    return (byte | byte << 3) & 0x11111111u;
  } else {
    byte = (byte | byte << 4) & 0x0f0fu;
    byte = (byte | byte << 2) & 0x3333u;
    return (byte | byte << 1) & 0x5555u;
  }
}

// Word `index` of lane `lane` of the words that begin at `plane`.
inline void put(unsigned char* plane, int index, int lane, std::uint32_t word) {
  std::memcpy(plane + (index * kBlockLanes + lane) * 4, &word, sizeof word);
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

// fp16 of a lane of the row that begins at `row`.
inline void put_half(unsigned char* row, int lane, const unsigned char* half) {
  std::memcpy(row + lane * 2, half, 2);
}

// Where a code lies in a word of eight nibbles or of sixteen pairs of bits. V::small wants it below
// bit 23 of the word; those above come down together, by one shift for all of them.
constexpr int kUpperNibble = 5, kUpperPair = 11;
struct Nibble {
  bool upper;
  int place;
  explicit Nibble(int i) : upper(i >= kUpperNibble), place((upper ? i - kUpperNibble : i) * 4) {}
  template <class Codes>
  Codes of(Codes word) const {
    return upper ? word >> (kUpperNibble * 4) : word;
  }
};
struct Pair {
  bool upper;
  int place;
  explicit Pair(int i) : upper(i >= kUpperPair), place((upper ? i - kUpperPair : i) * 2) {}
  template <class Codes>
  Codes of(Codes word) const {
    return upper ? word >> (kUpperPair * 2) : word;
  }
};

// Where code e of 256 codes of 2 bits lies, four to a byte: 128 of them in 32 bytes, the first 32
// in the lowest bits. For e a multiple of 8.
struct TwoBits {
  int byte, shift;
  explicit TwoBits(int e) : byte(e / 128 * 32 + e % 32), shift(e % 128 / 32 * 2) {}
};

// Them into words [16], 16 codes each.
inline void put_two_bits(const unsigned char* quarters, int lane, unsigned char* plane) {
  for (int e = 0; e < 256; e += 16) {
    const TwoBits at(e);
    const unsigned char* from = quarters + at.byte;
    put(plane, e / 16, lane,
        squeeze_at<2>(from, at.shift) | squeeze_at<2>(from + 8, at.shift) << 16);
  }
}

// Eight of 256 single bits, from e (a multiple of 8) on: bit e / 32 of byte e % 32.
inline std::uint32_t eight_bits(const unsigned char* bits, int e) {
  return squeeze_at<1>(bits + e % 32, e / 32);
}

// The eight 6-bit scales and minima of Q4_K and Q5_K, in 12 bytes. Into bytes [8] each.
inline void put_scales_and_minima(const unsigned char* packed, int lane, unsigned char* scales,
                                  unsigned char* minima) {
  for (int s = 0; s < 4; ++s) {
    const int last = packed[8 + s];
    unsigned char* scale = scales + s * kBlockLanes + lane;
    unsigned char* minimum = minima + s * kBlockLanes + lane;
    scale[0] = packed[s] & 63;
    minimum[0] = packed[4 + s] & 63;
    scale[4 * kBlockLanes] = static_cast<unsigned char>((last & 15) | ((packed[s] >> 2) & 48));
    minimum[4 * kBlockLanes] =
        static_cast<unsigned char>((last >> 4) | ((packed[4 + s] >> 2) & 48));
  }
}

}  // namespace
}  // namespace triescope::kernels
