// Four lanes through GCC/Clang vector extensions, for any processor. It has no fused multiply-add
// (without hardware that costs a library call an element), so this variant rounds products too.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/files/half.h"
#include "core/kernels/cpu/half.h"
#include "core/kernels/cpu/tuning.h"

namespace triescope::kernels {
namespace {

struct Vec {
  static constexpr int kLanes = 4;
  static constexpr bool kFused = false;  // fma() and fms() round twice
  static constexpr int kMaxRows = 3;     // rows of a register tile
  static constexpr int kWideRows = 1;    // up to this many rows a tile is a whole panel wide
  static constexpr int kNarrow = 4;      // vectors of a tile with more rows
  static constexpr int kFusedRows = 4;   // for weights in blocks
  static constexpr int kFusedWide = 1;   // up to this many of these rows, a panel at a time
  static constexpr int kFusedPairs = 4;  // up to this many of these rows, two vectors at a time
  static constexpr int kFewQueries = 3;  // up to this many, attention keeps K in registers
  static constexpr int kFewPairs = 3;    // up to this many of these queries, two vectors at a time
  // Up to this many queries, V goes straight into their sums: a panel wide, and two vectors wide.
  static constexpr int kWideValues = 1, kFewValues = 4;
  static constexpr int kScaledPlaces = 1;  // ScaledCodes: subtrahends that registers hold
  // Whether codes are converted where they are (ConvertedCodes, TableBytes).
  static constexpr bool kConverts = false;

  typedef float Lanes __attribute__((vector_size(16)));
  typedef std::int32_t Ints __attribute__((vector_size(16)));
  typedef std::uint32_t Codes __attribute__((vector_size(16)));
  Lanes v;

  static Vec zero() { return {Lanes{0, 0, 0, 0}}; }
  static Vec set(float x) { return {Lanes{x, x, x, x}}; }
  static Vec load(const float* p) {
    Vec r;
    std::memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  static Vec load(const std::uint16_t* p) {  // bf16
    std::uint32_t bits[4];
    for (int i = 0; i < 4; ++i) bits[i] = std::uint32_t{p[i]} << 16;
    Vec r;
    std::memcpy(&r.v, bits, sizeof bits);
    return r;
  }
  static Vec load(const Half* p) {
    Vec r;
    for (int i = 0; i < 4; ++i) r.v[i] = formats::f16_to_float(p[i].bits);
    return r;
  }

  // The bf16 numbers in the lower and in the upper halves of words.
  static Vec lower_bf16(Vec words) { return {Lanes(Codes(words.v) << 16)}; }
  static Vec upper_bf16(Vec words) { return {Lanes(Codes(words.v) & 0xffff0000u)}; }

  // --- packed integers ---
  static Codes codes(const std::uint32_t* p) {
    Codes c;
    std::memcpy(&c, p, sizeof c);
    return c;
  }
  // Words from bit `at` on, moved to the lowest bits.
  template <CodeLoads>
  static Codes codes_from(const std::uint32_t* p, int at) {
    return codes(p) >> at;
  }
  static Codes codes(const std::uint8_t* p) { return Codes{p[0], p[1], p[2], p[3]}; }
  static Vec number(const std::int8_t* p) {
    return {__builtin_convertvector((Ints{p[0], p[1], p[2], p[3]}), Lanes)};
  }
  static Vec number(Codes c) { return {__builtin_convertvector(Ints(c), Lanes)}; }
  // --- numbers of a few bits, one after another in a word ---
  // The number of Bits (2, 4 or 5) bits at bit `at`.
  template <int Bits, Fives = Fives::kOfTwoRegisters>
  struct Small {
    Vec operator()(Codes word, int at) const {
      return {__builtin_convertvector(Ints((word >> at) & ((1u << Bits) - 1u)), Lanes)};
    }
    template <CodeLoads>
    Vec of(const std::uint32_t* words, int at) const {
      return (*this)(codes(words), at);
    }
  };
  // 2^(23 - at) + the number of Bits bits at bit `at`, at + Bits <= 23.
  template <int Bits>
  static Vec above_power(Codes word, int at) {
    const Codes mantissa =
        (word & (((1u << Bits) - 1u) << at)) | static_cast<std::uint32_t>((127 + 23 - at) << 23);
    Vec r;
    std::memcpy(&r.v, &mantissa, sizeof r.v);
    return r;
  }
  // a where the bits of `mask` are set, else b
  static Codes select(std::uint32_t mask, Codes a, Codes b) { return (a & mask) | (b & ~mask); }
  // table[lowest four bits]
  struct Lookup {
    const float* table;
    explicit Lookup(const float* values) : table(values) {}
    Vec operator()(Codes c) const {
      return {Lanes{table[c[0] & 15], table[c[1] & 15], table[c[2] & 15], table[c[3] & 15]}};
    }
  };

  static Vec load_part(const float* p, int n, float fill) {
    Vec r = set(fill);
    for (int i = 0; i < n; ++i) r.v[i] = p[i];
    return r;
  }
  void store(float* p) const { std::memcpy(p, &v, sizeof v); }
  void store_part(float* p, int n) const {
    for (int i = 0; i < n; ++i) p[i] = v[i];
  }

  static Vec fma(Vec a, Vec b, Vec c) { return {a.v * b.v + c.v}; }
  static Vec fma(const float* x, Vec b, Vec c) { return fma(set(*x), b, c); }
  static Vec fms(Vec a, Vec b, Vec c) { return {a.v * b.v - c.v}; }
  friend Vec operator+(Vec a, Vec b) { return {a.v + b.v}; }
  friend Vec operator-(Vec a, Vec b) { return {a.v - b.v}; }
  friend Vec operator*(Vec a, Vec b) { return {a.v * b.v}; }
  friend Vec operator/(Vec a, Vec b) { return {a.v / b.v}; }
  // A NaN in b stays.
  static Vec max(Vec a, Vec b) { return {a.v > b.v ? a.v : b.v}; }
  static Vec min(Vec a, Vec b) { return {a.v < b.v ? a.v : b.v}; }
  // where x < limit: 0, else y
  static Vec zero_where_less(Vec x, Vec limit, Vec y) {
    return {x.v < limit.v ? Lanes{0, 0, 0, 0} : y.v};
  }
  static bool any_greater(Vec a, Vec b) {
    const Ints m = a.v > b.v;
    return (m[0] | m[1] | m[2] | m[3]) != 0;
  }
  // y * 2^n for whole n in [-126, 127]
  static Vec scale_pow2(Vec y, Vec n) {
    const Ints e = (__builtin_convertvector(n.v, Ints) + 127) << 23;
    Lanes factor;
    std::memcpy(&factor, &e, sizeof factor);
    return {y.v * factor};
  }
  // to the nearest whole number, |x| < 2^22
  static Vec round(Vec x) {
    const Lanes big = {12582912.0f, 12582912.0f, 12582912.0f, 12582912.0f};
    return {(x.v + big) - big};
  }
  static float sum(Vec a) { return (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]); }
  static float largest(Vec a) {
    float m = a.v[0];
    for (int i = 1; i < 4; ++i) m = a.v[i] > m ? a.v[i] : m;
    return m;
  }

  // --- columns of four rows ---
  // Loads sixteen bytes of row 0.
  static Codes every_fourth_row(const unsigned char* first, std::int64_t /*stride*/) {
    Codes c;
    std::memcpy(&c, first, sizeof c);
    return c;
  }
  // Transposes four rows' four words: afterwards rows[j] holds word j of every row.
  static void transpose(Codes (&rows)[4]) {
    const Codes ab_lo = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5),
                ab_hi = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7),
                cd_lo = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5),
                cd_hi = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    rows[0] = __builtin_shufflevector(ab_lo, cd_lo, 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(ab_lo, cd_lo, 2, 3, 6, 7);
    rows[2] = __builtin_shufflevector(ab_hi, cd_hi, 0, 1, 4, 5);
    rows[3] = __builtin_shufflevector(ab_hi, cd_hi, 2, 3, 6, 7);
  }
  // out[d], lane i = row(i)[d]
  template <class Row>
  static inline __attribute__((always_inline)) void columns4(const Row& row, Vec (&out)[4]) {
    Codes four[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) std::memcpy(&four[i], row(i), sizeof four[i]);
    transpose(four);
#pragma GCC unroll 4
    for (int d = 0; d < 4; ++d) out[d] = {Lanes(four[d])};
  }

  // --- into panels ---
  // Compilers know how to pack even elements, but take other orders of bytes apart.
  template <ByteOrder kOrder>
  static Codes reorder(Codes c) {
    typedef std::uint8_t Bytes __attribute__((vector_size(16)));
    typedef std::uint16_t Halves __attribute__((vector_size(16)));
    const auto even_then_odd = [](Bytes b) {
      const auto odd = reinterpret_cast<Bytes>(reinterpret_cast<Halves>(b) >> 8);
      return __builtin_shufflevector(b, odd, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
                                     30);
    };
    if (kOrder == ByteOrder::kAsStored) return c;
    const Bytes once = even_then_odd(reinterpret_cast<Bytes>(c));
    if (kOrder == ByteOrder::kFours) return reinterpret_cast<Codes>(even_then_odd(once));
    const auto words = reinterpret_cast<Codes>(once);
    return __builtin_shufflevector(words, words, 0, 2, 1, 3);
  }
  // Stores rows of bytes, `stride` bytes apart: row i has byte i of each lane.
  static void store_bytes(unsigned char* p, std::int64_t stride, Codes c) {
    const Codes rows = reorder<ByteOrder::kFours>(c);
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t row = rows[i];
      std::memcpy(p + i * stride, &row, sizeof row);
    }
  }
  // Stores the lowest two bytes of each lane.
  static void store_halves(unsigned char* p, Codes c) {
    for (int i = 0; i < 4; ++i) {
      const auto half = static_cast<std::uint16_t>(c[i]);
      std::memcpy(p + 2 * i, &half, sizeof half);
    }
  }
  // Other instruction sets write past the cache here, and finish_streams() makes that visible to
  // other threads.
  static void stream(unsigned char* p, Codes c) { std::memcpy(p, &c, sizeof c); }
  static void finish_streams() {}
};

}  // namespace
}  // namespace triescope::kernels
