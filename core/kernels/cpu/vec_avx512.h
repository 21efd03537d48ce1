// Sixteen lanes: AVX-512 F, BW, VL, DQ. Only for variant_avx512.cpp and variant_intel_avx512.cpp.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "core/kernels/cpu/half.h"
#include "core/kernels/cpu/tuning.h"

namespace triescope::kernels {
namespace {

struct Vec {
  static constexpr int kLanes = 16;
  static constexpr bool kFused = true;  // fma() and fms() round once
  static constexpr int kMaxRows = 14;   // 14 x 2 accumulators of 32 registers
  static constexpr int kWideRows = 14;  // a panel is two vectors
  static constexpr int kNarrow = 2;
  static constexpr int kFusedRows = 16;   // for weights in blocks
  static constexpr int kFusedWide = 1;    // up to this many of these rows, a panel at a time
  static constexpr int kFusedPairs = 12;  // up to this many of these rows, two vectors at a time
  static constexpr int kFewQueries = 8;   // up to this many, attention keeps K in registers
  static constexpr int kFewPairs = 8;     // up to this many of these queries, two vectors at a time
  // Up to this many queries, V goes straight into their sums: a panel wide, and two vectors wide.
  static constexpr int kWideValues = 12, kFewValues = 12;
  static constexpr int kScaledPlaces = 2;  // ScaledCodes: subtrahends that registers hold
  // Whether codes are converted where they are (ConvertedCodes, TableBytes).
  static constexpr bool kConverts = false;

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

  // The bf16 numbers in the lower and in the upper halves of words.
  static Vec lower_bf16(Vec words) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(words.v), 16))};
  }
  static Vec upper_bf16(Vec words) {
    return {_mm512_and_ps(words.v, _mm512_castsi512_ps(_mm512_set1_epi32(-65536)))};
  }

  // --- packed integers ---
  static Codes codes(const std::uint32_t* p) { return Codes(_mm512_loadu_si512(p)); }
  // Words from bit `at` on, moved to the lowest bits; the bits above may come from the next word.
  template <CodeLoads kLoads>
  static Codes codes_from(const std::uint32_t* p, int at) {
    if (kLoads == CodeLoads::kOnce) return codes(p) >> at;
    typedef Codes AnyBytes __attribute__((aligned(1), may_alias));
    const auto* const from = reinterpret_cast<const unsigned char*>(p) + at / 8;
    Codes c;  // otherwise compilers keep what two codes need in a register for a long time
    asm("vmovdqu32 %1, %0" : "=v"(c) : "m"(*reinterpret_cast<const AnyBytes*>(from)));
    return c >> at % 8;
  }
  static Codes codes(const std::uint8_t* p) {
    return Codes(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static Vec number(const std::int8_t* p) {
    return {_mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
  }
  static Vec number(Codes c) { return {_mm512_cvtepi32_ps(__m512i(c))}; }
  // --- numbers of a few bits, one after another in a word ---
  // Numbers are looked up or converted: neither permutations nor conversions take the
  // multiply-adds' units, as logical operations do on Zen 4.
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
  // table[five bits at bit `at`], for numbers whose lower sixteen bits are zero: their upper halves
  // are looked up with the bits of each word.
  struct HalfLookup {
    __m512i table;
    explicit HalfLookup(const std::uint16_t* halves) : table(_mm512_loadu_si512(halves)) {}
    Vec operator()(Codes word, int at) const {
      const Codes in_place = at < 16 ? word << (16 - at) : word >> (at - 16);
      return {_mm512_castsi512_ps(
          _mm512_maskz_permutexvar_epi16(0xaaaaaaaau, __m512i(in_place), table))};
    }
  };
  // The upper halves of the numbers of Bits bits, plus Offset
  template <int Bits, int Offset>
  struct UpperHalves {
    std::uint16_t values[1 << Bits];
    constexpr UpperHalves() : values() {
      for (int i = 0; i < 1 << Bits; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(i + Offset));
        values[i] = static_cast<std::uint16_t>(bits >> 16);
      }
    }
  };
  template <int Bits, int Offset>
  static constexpr UpperHalves<Bits, Offset> kUpperHalves = {};
  // Bits [At, At + Bits) of i, plus Offset
  template <int Bits, int At, int Offset = 0>
  struct Numbers {
    static constexpr int kCount = Bits > 4 ? 1 << Bits : 16;
    float values[kCount];
    constexpr Numbers() : values() {
      for (int i = 0; i < kCount; ++i)
        values[i] = static_cast<float>((i >> At & ((1 << Bits) - 1)) + Offset);
    }
  };
  template <int Bits, int At, int Offset = 0>
  static constexpr Numbers<Bits, At, Offset> kNumbers = {};
  // 2^(23 - at) + the number of Bits bits at bit `at`, at + Bits <= 23: with that power's exponent,
  // bits [at, 23) of a float's mantissa are whole numbers.
  template <int Bits>
  static Vec above_power(Codes word, int at) {
    return {_mm512_castsi512_ps(_mm512_ternarylogic_epi32(  // (word & mask) | exponent
        __m512i(word), _mm512_set1_epi32(((1 << Bits) - 1) << at),
        _mm512_set1_epi32((127 + 23 - at) << 23), 0xea))};
  }
  // The number of Bits (2 or 4) bits at bit `at`. A shift serves two of 2 bits.
  template <int Bits, Fives = Fives::kOfTwoRegisters>
  struct Small {
    Lookup table{kNumbers<Bits, 0>.values}, next{kNumbers<Bits, Bits % 4>.values};
    Vec operator()(Codes word, int at) const {
      return at % 4 == 0 ? table(word >> at) : next(word >> (at - Bits));
    }
    template <CodeLoads kLoads>
    Vec of(const std::uint32_t* words, int at) const {
      // The highest code needs no mask to be converted, and conversions use other units than
      // permutations (Zen 4, one row of Q4_1: 0.91 to 0.97 of the time).
      if (kLoads == CodeLoads::kOnce && Bits == 4 && at == 28) return number(codes(words) >> at);
      return at % 4 == 0 ? table(codes_from<kLoads>(words, at))
                         : next(codes_from<kLoads>(words, at - Bits));
    }
  };
  // The same for 5 bits. With two registers, one of the six codes in a word goes another way, so
  // that no unit has all the work.
  template <int Bits, Fives kFives>
  requires(Bits == 5) struct Small<Bits, kFives> {
    WideLookup table{kNumbers<Bits, 0>.values};
    HalfLookup halves{kUpperHalves<Bits, 0>.values};
    Vec operator()(Codes word, int at) const {
      if (kFives == Fives::kOfHalves) return halves(word, at);
      return at == 5 ? above_power<Bits>(word, at) - set(static_cast<float>(1 << (23 - at)))
                     : table(word >> at);
    }
  };
  // a where the bits of `mask` are set, else b
  static Codes select(std::uint32_t mask, Codes a, Codes b) {
    return Codes(_mm512_ternarylogic_epi32(_mm512_set1_epi32(static_cast<int>(mask)), __m512i(a),
                                           __m512i(b), 0xca));
  }

  static __mmask16 mask(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
  static Vec load_part(const float* p, int n, float fill) {
    return {_mm512_mask_loadu_ps(_mm512_set1_ps(fill), mask(n), p)};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store_part(float* p, int n) const { _mm512_mask_storeu_ps(p, mask(n), v); }

  static Vec fma(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  // x[0] * b + c: the number is spread where it is used, which costs nothing beside the
  // multiply-add. A register of its own, which compilers use for a number that is used twice, would
  // cost something.
  static Vec fma(const float* x, Vec b, Vec c) {
    asm("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(c.v) : "m"(*x), "v"(b.v));
    return c;
  }
  static Vec fms(Vec a, Vec b, Vec c) { return {_mm512_fmsub_ps(a.v, b.v, c.v)}; }
  friend Vec operator+(Vec a, Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
  friend Vec operator-(Vec a, Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
  friend Vec operator*(Vec a, Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
  friend Vec operator/(Vec a, Vec b) { return {_mm512_div_ps(a.v, b.v)}; }
  static Vec max(Vec a, Vec b) { return {_mm512_max_ps(a.v, b.v)}; }  // a NaN in b stays
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

  // --- columns of sixteen rows ---
  // Loads sixteen bytes each of rows 0, 4, 8 and 12, which are `stride` bytes apart.
  static Codes every_fourth_row(const unsigned char* first, std::int64_t stride) {
    const auto row = [&](int i) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + i * stride));
    };
    __m512i r = _mm512_castsi128_si512(row(0));
    r = _mm512_inserti32x4(r, row(4), 1);
    r = _mm512_inserti32x4(r, row(8), 2);
    return Codes(_mm512_inserti32x4(r, row(12), 3));
  }
  // Transposes sixteen rows' four words. rows[i] holds those of rows i, i + 4, i + 8 and i + 12;
  // afterwards rows[j] holds word j of every row.
  static void transpose(Codes (&rows)[4]) {
    const auto low = [](Codes x, Codes y) { return _mm512_unpacklo_ps(__m512(x), __m512(y)); };
    const auto high = [](Codes x, Codes y) { return _mm512_unpackhi_ps(__m512(x), __m512(y)); };
    const __m512 ab_lo = low(rows[0], rows[1]), ab_hi = high(rows[0], rows[1]);
    const __m512 cd_lo = low(rows[2], rows[3]), cd_hi = high(rows[2], rows[3]);
    rows[0] = Codes(_mm512_shuffle_ps(ab_lo, cd_lo, 0x44));
    rows[1] = Codes(_mm512_shuffle_ps(ab_lo, cd_lo, 0xee));
    rows[2] = Codes(_mm512_shuffle_ps(ab_hi, cd_hi, 0x44));
    rows[3] = Codes(_mm512_shuffle_ps(ab_hi, cd_hi, 0xee));
  }
  // out[d], lane i = row(i)[d]
  template <class Row>
  static inline __attribute__((always_inline)) void columns4(const Row& row, Vec (&out)[4]) {
    Codes four[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      __m512 r = _mm512_castps128_ps512(_mm_loadu_ps(row(i)));
      r = _mm512_insertf32x4(r, _mm_loadu_ps(row(i + 4)), 1);
      r = _mm512_insertf32x4(r, _mm_loadu_ps(row(i + 8)), 2);
      four[i] = Codes(_mm512_insertf32x4(r, _mm_loadu_ps(row(i + 12)), 3));
    }
    transpose(four);
#pragma GCC unroll 4
    for (int d = 0; d < 4; ++d) out[d] = {__m512(four[d])};
  }

  // --- into panels ---
  template <ByteOrder kOrder>
  static Codes reorder(Codes c) {
    if (kOrder == ByteOrder::kAsStored) return c;
    const __m128i order =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(kPlaces[static_cast<int>(kOrder)]));
    return Codes(_mm512_shuffle_epi8(__m512i(c), _mm512_broadcast_i32x4(order)));
  }
  // Stores rows of bytes, `stride` bytes apart: row i has byte i of each lane.
  static void store_bytes(unsigned char* p, std::int64_t stride, Codes c) {
    const __m512i from_each =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i rows =
        _mm512_permutexvar_epi32(from_each, __m512i(reorder<ByteOrder::kFours>(c)));
    const auto store = [&](int i, __m128i row) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p + i * stride), row);
    };
    store(0, _mm512_castsi512_si128(rows));
    store(1, _mm512_extracti32x4_epi32(rows, 1));
    store(2, _mm512_extracti32x4_epi32(rows, 2));
    store(3, _mm512_extracti32x4_epi32(rows, 3));
  }
  // Stores the lowest two bytes of each lane.
  static void store_halves(unsigned char* p, Codes c) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(__m512i(c)));
  }
  // Writes past the cache; other threads see it after finish_streams(). p: a multiple of 64.
  static void stream(unsigned char* p, Codes c) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), __m512i(c));
  }
  static void finish_streams() { _mm_sfence(); }
};

}  // namespace
}  // namespace triescope::kernels
