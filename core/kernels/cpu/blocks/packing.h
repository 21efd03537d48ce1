// Moves the blocks of a vector's outputs from the file's layout into a panel's, with the parts that
// several block types share. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/kernels/cpu/half.h"
#include "core/kernels/cpu/tuning.h"

namespace triescope::kernels {
namespace {

constexpr int kBlockLanes = 32;  // outputs of a panel

// Four words for each of V::kLanes outputs.
template <class V>
struct FourWords {
  typename V::Codes at[4];
};

// One block for each of V::kLanes outputs, as in the file, `stride` bytes apart.
template <class V>
struct FileBlocks {
  const unsigned char* first;
  std::int64_t stride;

  // Sixteen bytes of each block, from byte `at` on: word j has bytes 4 j .. 4 j + 3. In other
  // orders: kPairs: words 0 and 1 have the even and the odd ones of the first eight bytes, words 2
  // and 3 those of the others. kFours: word j has every fourth byte, from byte j on.
  template <ByteOrder kOrder = ByteOrder::kAsStored>
  inline __attribute__((always_inline)) FourWords<V> sixteen(int at) const {
    FourWords<V> words;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      words.at[i] =
          V::template reorder<kOrder>(V::every_fourth_row(first + i * stride + at, stride));
    V::transpose(words.at);
    return words;
  }
};

// Their place in a panel block: the lanes from `lane` on.
template <class Block, class V>
struct PanelLanes {
  unsigned char* block;
  int lane;

  using Codes = typename V::Codes;

  void word(int row, Codes c) const {
    std::memcpy(block + (row * kBlockLanes + lane) * 4, &c, sizeof c);
  }
  // Writes rows `row` .. row + 3: the four bytes of each word.
  void four_bytes(int row, Codes c) const {
    V::store_bytes(block + Block::kWords * 4 * kBlockLanes + row * kBlockLanes + lane, kBlockLanes,
                   c);
  }
  // Writes rows `row` .. row + 15: the same for four words.
  void sixteen_bytes(int row, const FourWords<V>& words) const {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) four_bytes(row + i * 4, words.at[i]);
  }
  // Writes the lowest byte of each word.
  void lowest_byte(int row, Codes c) const {
    unsigned char rows[4 * V::kLanes];
    V::store_bytes(rows, V::kLanes, c);
    std::memcpy(block + (Block::kWords * 4 + row) * kBlockLanes + lane, rows,
                std::size_t{V::kLanes});
  }
  // Writes the lowest two bytes of each word.
  void half(int row, Codes c) const {
    V::store_halves(
        block + (Block::kWords * 4 + Block::kBytes) * kBlockLanes + (row * kBlockLanes + lane) * 2,
        c);
  }
};

// Interleaves the 4-bit codes in the low (or high) bits of two words' bytes: words 0 and 1, or 2
// and 3, in ByteOrder::kPairs give eight consecutive codes.
template <class Codes>
Codes low_nibbles(Codes a, Codes b) {
  return (a & 0x0f0f0f0fu) | (b & 0x0f0f0f0fu) << 4;
}
template <class Codes>
Codes high_nibbles(Codes a, Codes b) {
  return (a >> 4 & 0x0f0f0f0fu) | (b & 0xf0f0f0f0u);
}

// The codes of 2 bits at bit `at` of sixteen bytes in ByteOrder::kFours, in consecutive order.
template <class V>
typename V::Codes quarters(const FourWords<V>& words, int at) {
  typename V::Codes c = words.at[0] >> at & 0x03030303u;
#pragma GCC unroll 3
  for (int j = 1; j < 4; ++j) c |= (words.at[j] >> at & 0x03030303u) << (2 * j);
  return c;
}

// Where a vector of outputs begins: a panel block, and a lane in it.
struct Column {
  const unsigned char* block;
  int lane;
};
// Row `row` of the words (bytes, fp16 numbers) at byte `plane` of a panel block, at the column's
// lane.
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

// The floats with these bits.
template <class V>
V float_of_bits(typename V::Codes bits) {
  V numbers;
  static_assert(sizeof numbers == sizeof bits);
  std::memcpy(&numbers, &bits, sizeof bits);
  return numbers;
}

// The fp16 numbers of a panel block, which lie behind its words and bytes, as floats: the n-th one
// of column v is at[n][v].
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

// Packs 256 codes of 2 bits, four in a byte: 128 of them in 32 bytes, the first 32 in the lowest
// bits. They go into the first sixteen rows of words, 16 consecutive codes in each.
template <class V, class To>
inline __attribute__((always_inline)) void put_quarters(const FileBlocks<V>& from, int at,
                                                        const To& to) {
#pragma GCC unroll 4
  for (int part = 0; part < 4; ++part) {
    const auto words = from.template sixteen<ByteOrder::kFours>(at + part * 16);
#pragma GCC unroll 4
    for (int shift = 0; shift < 4; ++shift)
      to.word(part / 2 * 8 + shift * 2 + part % 2, quarters<V>(words, 2 * shift));
  }
}

// Packs the eight 6-bit scales and minima of Q4_K and Q5_K, which are in the last three of four
// words.
template <class V, class To>
inline __attribute__((always_inline)) void put_scales_and_minima(const FourWords<V>& words,
                                                                 const To& to) {
  const auto scales = words.at[1], minima = words.at[2], last = words.at[3];
  to.four_bytes(0, scales & 0x3f3f3f3fu);
  to.four_bytes(4, (last & 0x0f0f0f0fu) | (scales >> 2 & 0x30303030u));
  to.four_bytes(8, minima & 0x3f3f3f3fu);
  to.four_bytes(12, (last >> 4 & 0x0f0f0f0fu) | (minima >> 2 & 0x30303030u));
}

}  // namespace
}  // namespace triescope::kernels
