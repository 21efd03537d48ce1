// Weights scale * table[code] where words hold eight codes of 4 bits and the table's sixteen numbers
// are whole and differ by less than 256: the codes are looked up as bytes, four at a time.
//
// A byte u = table[code] - lowest, 8 at above its word's lowest bit, is the whole number u * 2^at,
// and scale * 2^-at times it less scale * lowest is the weight: nothing is rounded, as in
// ConvertedCodes. Where vectors have eight lanes this takes half of the operations of looking up
// fp32 numbers, which fill two registers (a Zen 4 core, AVX2, from the cache: IQ4_NL 0.74 of the time
// with one row and with two, 0.92 with eight).
#pragma once

#include <array>

#include "core/kernels/cpu/blocks/packing.h"
#include "core/kernels/cpu/each.h"

namespace triescope::kernels {
namespace {

// Calls use(i, w) for the codes of kWords rows of words from row `first` on, in order; w holds the weights of
// all columns, each weight.operator()<byte>(column, the word of bytes that `table` has for four codes).
template <class V, int kWords, int NV, class Weight, class Use>
inline __attribute__((always_inline)) void decode_table_bytes(const std::uint8_t* table,
                                                              const Column (&in)[NV], int first,
                                                              const Weight& weight,
                                                              const Use& use) {
#pragma GCC unroll 1
  for (int word = 0; word < kWords; ++word) {
    typename V::Codes found[2][NV];  // of the even and of the odd codes
    each<NV>([&]<int v>() __attribute__((always_inline)) {
      const auto codes = V::codes(words(in[v], 0, first + word));
      found[0][v] = V::table_bytes(table, codes & 0x0f0f0f0fu);
      found[1][v] = V::table_bytes(table, codes >> 4 & 0x0f0f0f0fu);
    });
    each<8>([&]<int i>() __attribute__((always_inline)) {
      V w[NV];
      each<NV>([&]<int v>() __attribute__((always_inline)) {
        w[v] = weight.template operator()<i / 2>(v, found[i % 2][v]);
      });
      use(word * 8 + i, w);
    });
  }
}

template <const float (&kTable)[16]>
struct TableBytes {
  static constexpr float kLowest = [] {
    float lowest = kTable[0];
    for (const float number : kTable) lowest = number < lowest ? number : lowest;
    return lowest;
  }();
  static constexpr std::array<std::uint8_t, 16> kAbove = [] {
    std::array<std::uint8_t, 16> above = {};
    for (std::size_t i = 0; i < 16; ++i) above[i] = static_cast<std::uint8_t>(kTable[i] - kLowest);
    return above;
  }();
  static_assert(
      [] {
        for (const float number : kTable)
          if (number - kLowest >= 256 || number != static_cast<float>(static_cast<int>(number)))
            return false;
        return true;
      }(),
      "expected whole numbers that differ by less than 256");

  // decode_table_bytes() for columns whose scales are given.
  template <class V, int kWords, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const V (&scales)[NV], const Use& use,
                                                           int first = 0) {
    V less[NV], scale[3][NV];  // of bytes 0 to 2; byte 3 is moved to the lowest bits
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      less[v] = scales[v] * V::set(-kLowest);
#pragma GCC unroll 3
      for (int byte = 0; byte < 3; ++byte)
        scale[byte][v] = scales[v] * V::set(1.0f / static_cast<float>(1 << 8 * byte));
    }
    const auto weight = [&]<int kByte>(int v, typename V::Codes four)
        __attribute__((always_inline)) {
      const auto one = kByte < 3 ? four & (255u << 8 * kByte) : four >> 24;
      return V::fms(V::number(one), scale[kByte % 3][v], less[v]);
    };
    decode_table_bytes<V, kWords>(kAbove.data(), in, first, weight, use);
  }
};

// The same where scale * -lowest may overflow, with one operation more: bytes have their sign, and nothing
// is taken off the product (two Zen 4 cores, AVX2, MXFP4: 0.81 of the time with one row, 0.75 with two, 0.88 with eight, 0.94 with twelve).
template <const float (&kTable)[16]>
struct SignedTableBytes {
  static constexpr std::array<std::uint8_t, 16> kBytes = [] {
    std::array<std::uint8_t, 16> all = {};
    for (std::size_t i = 0; i < 16; ++i)
      all[i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(kTable[i]));
    return all;
  }();
  static_assert(
      [] {
        for (std::size_t i = 0; i < 16; ++i)
          if (static_cast<float>(static_cast<std::int8_t>(kBytes[i])) != kTable[i]) return false;
        return true;
      }(),
      "expected whole numbers from -128 to 127");

  template <class V, int kWords, int NV, class Use>
  static inline __attribute__((always_inline)) void decode(const Column (&in)[NV],
                                                           const V (&scales)[NV], const Use& use,
                                                           int first = 0) {
    const auto weight = [&]<int kByte>(int v, typename V::Codes four)
        __attribute__((always_inline)) {
      return scales[v] * V::template signed_byte<kByte>(four);
    };
    decode_table_bytes<V, kWords>(kBytes.data(), in, first, weight, use);
  }
};

}  // namespace
}  // namespace triescope::kernels
