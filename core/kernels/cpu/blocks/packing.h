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

// Word `index` of lane `lane` of the words that begin at `plane`.
inline void put(unsigned char* plane, int index, int lane, std::uint32_t word) {
  std::memcpy(plane + (index * kBlockLanes + lane) * 4, &word, sizeof word);
}
inline const std::uint32_t* words(const unsigned char* plane, int index, int n) {
  return reinterpret_cast<const std::uint32_t*>(plane) + index * kBlockLanes + n;
}

// fp16 of a lane of the row that begins at `row`.
inline void put_half(unsigned char* row, int lane, const unsigned char* half) {
  std::memcpy(row + lane * 2, half, 2);
}
inline const Half* halves(const unsigned char* row, int n) {
  return reinterpret_cast<const Half*>(row) + n;
}

// 256 codes of 2 bits, four to a byte: 128 of them lie in 32 bytes, the first 32 in the lowest
// bits.
// Into words [16], 16 codes each.
inline void put_two_bits(const unsigned char* quarters, int lane, unsigned char* plane) {
  for (int e = 0; e < 256; e += 16) {
    const unsigned char* at = quarters + e / 128 * 32 + e % 32;
    const int shift = e % 128 / 32 * 2;
    put(plane, e / 16, lane, squeeze_at<2>(at, shift) | squeeze_at<2>(at + 8, shift) << 16);
  }
}

// 256 single bits: bit e / 32 of byte e % 32. Into words [8], 32 bits each.
inline void put_single_bits(const unsigned char* bits, int lane, unsigned char* plane) {
  for (int e = 0; e < 256; e += 32) {
    std::uint32_t word = 0;
    for (int i = 0; i < 32; i += 8) word |= squeeze_at<1>(bits + i, e / 32) << i;
    put(plane, e / 32, lane, word);
  }
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
