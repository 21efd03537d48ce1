// Sixteen lanes: AVX-512 F, BW, VL, DQ. Only for variant_avx512.cpp.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "core/kernels/cpu/half.h"

namespace triescope::kernels {
namespace {

struct Vec {
  static constexpr int kLanes = 16;
  static constexpr int kMaxRows = 14;   // 14 x 2 accumulators of 32 registers
  static constexpr int kWideRows = 14;  // a panel is two vectors
  static constexpr int kNarrow = 2;
  static constexpr int kFusedRows = 16;   // of weights in blocks
  static constexpr int kFusedPairs = 12;  // up to as many of these, two vectors at a time

  typedef std::uint32_t Codes __attribute__((vector_size(64)));

  __m512 v;

  static Vec zero() { return {_mm512_setzero_ps()}; }
  static Vec set(float x) { return {_mm512_set1_ps(x)}; }
  static Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Vec load(const std::uint16_t* p) {  // bf16
    const __m256i h = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16))};
  }
  static Vec load(const Half* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }

  // --- packed integers ---
  static Codes codes(const std::uint32_t* p) { return Codes(_mm512_loadu_si512(p)); }
  static Codes codes(const std::uint8_t* p) {
    return Codes(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static Vec number(const std::int8_t* p) {
    return {_mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
  }
  static Vec number(Codes c) { return {_mm512_cvtepi32_ps(__m512i(c))}; }
  // --- numbers of a few bits, one after another in a word ---
  // Looked up or converted: neither permutations nor conversions keep the units of multiply-adds
  // from their work, which logical operations do on Zen 4.
  // table[lowest four bits]
  struct Lookup {
    __m512 table;
    explicit Lookup(const float* values) : table(_mm512_loadu_ps(values)) {}
    Vec operator()(Codes c) const { return {_mm512_permutexvar_ps(__m512i(c), table)}; }
  };
  // table[lowest five bits]
  struct WideLookup {
    __m512 low, high;
    explicit WideLookup(const float* values)
        : low(_mm512_loadu_ps(values)), high(_mm512_loadu_ps(values + 16)) {}
    Vec operator()(Codes c) const { return {_mm512_permutex2var_ps(low, __m512i(c), high)}; }
  };
  // Bits [At, At + Bits) of i, plus Offset
  template <int Bits, int At, int Offset>
  struct Numbers {
    static constexpr int kCount = Bits > 4 ? 1 << Bits : 16;
    float values[kCount];
    constexpr Numbers() : values() {
      for (int i = 0; i < kCount; ++i)
        values[i] = static_cast<float>((i >> At & ((1 << Bits) - 1)) + Offset);
    }
  };
  template <int Bits, int At, int Offset>
  static constexpr Numbers<Bits, At, Offset> kNumbers = {};
  // That of Bits bits at bit `at`, plus Offset, without a table: with the exponent of 2^(23 - at),
  // bits [at, 23) of a float's mantissa are whole numbers, and so is the difference to that power.
  template <int Bits, int Offset>
  static Vec subtracted(Codes word, int at) {
    const __m512i number = _mm512_ternarylogic_epi32(  // (word & mask) | exponent
        __m512i(word), _mm512_set1_epi32(((1 << Bits) - 1) << at),
        _mm512_set1_epi32((127 + 23 - at) << 23), 0xea);
    return {_mm512_sub_ps(_mm512_castsi512_ps(number),
                          _mm512_set1_ps(static_cast<float>((1 << (23 - at)) - Offset)))};
  }
  // The one of Bits (2 or 4) bits at bit `at`, plus Offset. A shift serves two of 2 bits. Types with
  // an offset only multiply, so that their logical operations are in nobody's way (Q4_0, one row:
  // 5 % less).
  template <int Bits, int Offset>
  struct Small {
    Lookup table{kNumbers<Bits, 0, Offset>.values}, next{kNumbers<Bits, Bits % 4, Offset>.values};
    Vec operator()(Codes word, int at) const {
      if (Offset != 0 && at + Bits <= 23) return subtracted<Bits, Offset>(word, at);
      return at % 4 == 0 ? table(word >> at) : next(word >> (at - Bits));
    }
  };
  // The same of 5 bits. Two of the six in a word go the other way, so that no unit has all the work.
  template <int Offset>
  struct FiveBits {
    WideLookup table{kNumbers<5, 0, Offset>.values};
    Vec operator()(Codes word, int at) const {
      return at < 10 ? subtracted<5, Offset>(word, at) : table(word >> at);
    }
  };
  // a where the bits of `mask` are set, else b
  static Codes select(std::uint32_t mask, Codes a, Codes b) {
    return Codes(_mm512_ternarylogic_epi32(_mm512_set1_epi32(static_cast<int>(mask)), __m512i(a),
                                           __m512i(b), 0xca));
  }
  // The i-th of numbers whose lowest Low bits are at Low * i of one word, and whose next High ones
  // at Low * i + High * `part` of another; plus Offset, times kUnit. Even and odd numbers are put
  // together for a whole word: in nibbles where they fit into them, in bytes else.
  template <int Low, int High, int Offset>
  struct Joined {
    static_assert(Low == 2 || Low == 4);
    static constexpr bool kNibbles = Low == 2;
    // A byte becomes the highest of its lane, so that its sign is the lane's.
    static constexpr float kUnit = kNibbles ? 1.0f : 16777216.0f;
    static constexpr std::uint32_t kEach = kNibbles ? 0x11111111u : 0x01010101u;
    Codes even, odd;
    Joined() = default;
    Joined(Codes low, Codes high, int part)
        : even(select(kEach * ((1u << Low) - 1u), low, high << (Low - High * part))),
          odd(select(kEach * ((1u << Low) - 1u), low >> Low, high >> (High * part))) {
      if constexpr (!kNibbles) {
        even = offset(even);
        odd = offset(odd);
      }
    }
    static Codes offset(Codes bytes) {
      const __m512i number = __m512i(bytes & kEach * ((1u << (Low + High)) - 1u));
      return Codes(Offset == 0 ? number : _mm512_add_epi8(number, _mm512_set1_epi8(Offset)));
    }
    Vec operator()(int i) const {
      const Codes both = i % 2 == 0 ? even : odd;
      if constexpr (kNibbles) {
        return Lookup(kNumbers<Low + High, 0, Offset>.values)(both >> (2 * Low * (i / 2)));
      } else {
        // Byte i / 2 of each lane on top, zeros (0x80) below it.
        const int of_lane = 0x00808080 + (i / 2 << 24), next_lane = 0x04000000;
        const __m512i highest = _mm512_set4_epi32(of_lane + 3 * next_lane, of_lane + 2 * next_lane,
                                                  of_lane + next_lane, of_lane);
        return {_mm512_cvtepi32_ps(_mm512_shuffle_epi8(__m512i(both), highest))};
      }
    }
  };

  static __mmask16 mask(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
  static Vec load_part(const float* p, int n, float fill) {
    return {_mm512_mask_loadu_ps(_mm512_set1_ps(fill), mask(n), p)};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store_part(float* p, int n) const { _mm512_mask_storeu_ps(p, mask(n), v); }

  static Vec fma(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  // x[0] * b + c: the number is spread where it is used, which costs nothing beside the
  // multiply-add; in a register of its own (what compilers do with one used twice) it does.
  static Vec fma(const float* x, Vec b, Vec c) {
    asm("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(c.v) : "m"(*x), "v"(b.v));
    return c;
  }
  static Vec fms(Vec a, Vec b, Vec c) { return {_mm512_fmsub_ps(a.v, b.v, c.v)}; }
  friend Vec operator+(Vec a, Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
  friend Vec operator-(Vec a, Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
  friend Vec operator*(Vec a, Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
  friend Vec operator/(Vec a, Vec b) { return {_mm512_div_ps(a.v, b.v)}; }
  static Vec max(Vec a, Vec b) { return {_mm512_max_ps(a.v, b.v)}; }  // NaN in b stays
  static Vec min(Vec a, Vec b) { return {_mm512_min_ps(a.v, b.v)}; }
  static Vec zero_where_less(Vec x, Vec limit, Vec y) {
    return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.v, limit.v, _CMP_NLT_UQ), y.v)};
  }
  static bool any_greater(Vec a, Vec b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ) != 0; }
  static Vec scale_pow2(Vec y, Vec n) {
    const __m512i e =
        _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127)), 23);
    return {_mm512_mul_ps(y.v, _mm512_castsi512_ps(e))};
  }
  static Vec round(Vec x) {
    return {_mm512_roundscale_ps(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
  static float sum(Vec a) {
    const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static float largest(Vec a) {
    const __m256 h = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
  }

  // out[d * ld + i] = row i's [d], for four d and sixteen rows: each 128-bit lane is a 4 x 4
  // transpose.
  static void transpose4(const float* const* rows, std::int64_t at, float* out, std::int64_t ld) {
    const auto four = [&](int i) {
      __m512 r = _mm512_castps128_ps512(_mm_loadu_ps(rows[i] + at));
      r = _mm512_insertf32x4(r, _mm_loadu_ps(rows[i + 4] + at), 1);
      r = _mm512_insertf32x4(r, _mm_loadu_ps(rows[i + 8] + at), 2);
      return _mm512_insertf32x4(r, _mm_loadu_ps(rows[i + 12] + at), 3);
    };
    const __m512 a = four(0), b = four(1), c = four(2), d = four(3);
    const __m512 ab_lo = _mm512_unpacklo_ps(a, b), ab_hi = _mm512_unpackhi_ps(a, b);
    const __m512 cd_lo = _mm512_unpacklo_ps(c, d), cd_hi = _mm512_unpackhi_ps(c, d);
    _mm512_storeu_ps(out, _mm512_shuffle_ps(ab_lo, cd_lo, 0x44));
    _mm512_storeu_ps(out + ld, _mm512_shuffle_ps(ab_lo, cd_lo, 0xee));
    _mm512_storeu_ps(out + 2 * ld, _mm512_shuffle_ps(ab_hi, cd_hi, 0x44));
    _mm512_storeu_ps(out + 3 * ld, _mm512_shuffle_ps(ab_hi, cd_hi, 0xee));
  }
};

}  // namespace
}  // namespace triescope::kernels
