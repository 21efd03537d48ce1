// Eight lanes: AVX2 with FMA. Only for variant_avx2.cpp.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "core/kernels/cpu/half.h"
#include "core/kernels/cpu/tuning.h"

namespace triescope::kernels {
namespace {

alignas(32) constexpr std::int32_t kPartMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                    0,  0,  0,  0,  0,  0,  0,  0};

struct Vec {
  static constexpr int kLanes = 8;
  static constexpr bool kFused = true;  // fma() and fms() round once
  static constexpr int kMaxRows = 6;    // 6 x 2 accumulators of 16 registers
  // 1 or 2 rows: the whole panel, four vectors, to cover the latency of FMA.
  static constexpr int kWideRows = 2;
  static constexpr int kNarrow = 2;
  static constexpr int kFusedRows = 8;   // for weights in blocks
  static constexpr int kFusedWide = 2;   // up to this many of these rows, a panel at a time
  static constexpr int kFusedPairs = 4;  // up to this many of these rows, two vectors at a time
  static constexpr int kFewQueries = 8;  // up to this many, attention keeps K in registers
  static constexpr int kFewPairs = 4;    // up to this many of these queries, two vectors at a time
  // Up to this many queries, V goes straight into their sums: a panel wide, and two vectors wide.
  static constexpr int kWideValues = 3, kFewValues = 6;
  static constexpr int kScaledPlaces = 1;  // ScaledCodes: subtrahends that registers hold
  // Whether codes are converted where they are: those beside a minimum (ConvertedCodes) and bytes
  // of a table (TableBytes).
  static constexpr bool kConverts = true;

  typedef std::uint32_t Codes __attribute__((vector_size(32)));

  __m256 v;

  static Vec zero() { return {_mm256_setzero_ps()}; }
  static Vec set(float x) { return {_mm256_set1_ps(x)}; }
  static Vec load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static Vec load(const std::uint16_t* p) {  // bf16
    const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16))};
  }
  static Vec load(const Half* p) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
  }

  // The bf16 numbers in the lower and in the upper halves of words.
  static Vec lower_bf16(Vec words) {
    return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(words.v), 16))};
  }
  static Vec upper_bf16(Vec words) {
    return {_mm256_and_ps(words.v, _mm256_castsi256_ps(_mm256_set1_epi32(-65536)))};
  }

  // --- packed integers ---
  static Codes codes(const std::uint32_t* p) {
    return Codes(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  // Words from bit `at` on, moved to the lowest bits.
  template <CodeLoads>
  static Codes codes_from(const std::uint32_t* p, int at) {
    return codes(p) >> at;
  }
  static Codes codes(const std::uint8_t* p) {
    return Codes(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static Vec number(const std::int8_t* p) {
    return {_mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))))};
  }
  static Vec number(Codes c) { return {_mm256_cvtepi32_ps(__m256i(c))}; }
  // --- numbers of a few bits, one after another in a word ---
  // They stay in place: with the exponent of 2^(23 - at), bits [at, 23) of a float's mantissa are
  // whole numbers, and so is the difference from that power. That needs no shift and no conversion;
  // the numbers from upper<Bits>() on are moved down together, by one shift for all of them.
  // above_power: 2^(23 - at) + the number of Bits bits at bit `at`, at + Bits <= 23.
  template <int Bits>
  static Vec above_power(Codes word, int at) {
    const Codes mantissa =
        (word & (((1u << Bits) - 1u) << at)) | static_cast<std::uint32_t>((127 + 23 - at) << 23);
    return {_mm256_castsi256_ps(__m256i(mantissa))};
  }
  template <int Bits>
  static constexpr int upper() {
    return 23 / Bits * Bits;
  }
  // The number of Bits (2, 4 or 5) bits at bit `at`.
  template <int Bits, Fives = Fives::kOfTwoRegisters>
  struct Small {
    Vec operator()(Codes word, int at) const {
      if (at >= upper<Bits>()) {
        word >>= upper<Bits>();
        at -= upper<Bits>();
      }
      return above_power<Bits>(word, at) - set(static_cast<float>(1 << (23 - at)));
    }
    template <CodeLoads>
    Vec of(const std::uint32_t* words, int at) const {
      return (*this)(codes(words), at);
    }
  };
  // a where the bits of `mask` are set, else b
  static Codes select(std::uint32_t mask, Codes a, Codes b) { return (a & mask) | (b & ~mask); }
  // table[lowest four bits]
  struct Lookup {
    __m256 low, high;
    explicit Lookup(const float* values)
        : low(_mm256_loadu_ps(values)), high(_mm256_loadu_ps(values + 8)) {}
    Vec operator()(Codes c) const {
      const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(__m256i(c), 28));
      return {_mm256_blendv_ps(_mm256_permutevar8x32_ps(low, __m256i(c)),
                               _mm256_permutevar8x32_ps(high, __m256i(c)), is_high)};
    }
  };

  // The same for each byte of a word: table[byte], bytes below 16.
  static Codes table_bytes(const std::uint8_t* table, Codes c) {
    const __m128i numbers = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return Codes(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(numbers), __m256i(c)));
  }
  // Byte kByte of each word, which has a sign.
  template <int kByte>
  static Vec signed_byte(Codes c) {
    const __m256i top = _mm256_slli_epi32(__m256i(c), 24 - 8 * kByte);
    return {_mm256_cvtepi32_ps(_mm256_srai_epi32(top, 24))};
  }

  static __m256i mask(int n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kPartMask + 8 - n));
  }
  static Vec load_part(const float* p, int n, float fill) {
    const __m256i m = mask(n);
    return {
        _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, m), _mm256_castsi256_ps(m))};
  }
  void store(float* p) const { _mm256_storeu_ps(p, v); }
  void store_part(float* p, int n) const { _mm256_maskstore_ps(p, mask(n), v); }

  static Vec fma(Vec a, Vec b, Vec c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
  static Vec fma(const float* x, Vec b, Vec c) { return fma(set(*x), b, c); }
  static Vec fms(Vec a, Vec b, Vec c) { return {_mm256_fmsub_ps(a.v, b.v, c.v)}; }
  friend Vec operator+(Vec a, Vec b) { return {_mm256_add_ps(a.v, b.v)}; }
  friend Vec operator-(Vec a, Vec b) { return {_mm256_sub_ps(a.v, b.v)}; }
  friend Vec operator*(Vec a, Vec b) { return {_mm256_mul_ps(a.v, b.v)}; }
  friend Vec operator/(Vec a, Vec b) { return {_mm256_div_ps(a.v, b.v)}; }
  static Vec max(Vec a, Vec b) { return {_mm256_max_ps(a.v, b.v)}; }  // a NaN in b stays
  static Vec min(Vec a, Vec b) { return {_mm256_min_ps(a.v, b.v)}; }
  static Vec zero_where_less(Vec x, Vec limit, Vec y) {
    return {_mm256_andnot_ps(_mm256_cmp_ps(x.v, limit.v, _CMP_LT_OQ), y.v)};
  }
  static bool any_greater(Vec a, Vec b) {
    return _mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)) != 0;
  }
  static Vec scale_pow2(Vec y, Vec n) {
    const __m256i e =
        _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n.v), _mm256_set1_epi32(127)), 23);
    return {_mm256_mul_ps(y.v, _mm256_castsi256_ps(e))};
  }
  static Vec round(Vec x) {
    return {_mm256_round_ps(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
  static float sum(Vec a) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static float largest(Vec a) {
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
  }

  // --- columns of eight rows ---
  // Loads sixteen bytes each of rows 0 and 4, which are `stride` bytes apart.
  static Codes every_fourth_row(const unsigned char* first, std::int64_t stride) {
    const auto row = [&](int i) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + i * stride));
    };
    return Codes(_mm256_inserti128_si256(_mm256_castsi128_si256(row(0)), row(4), 1));
  }
  // Transposes eight rows' four words. rows[i] holds those of rows i and i + 4; afterwards rows[j]
  // holds word j of every row.
  static void transpose(Codes (&rows)[4]) {
    const auto low = [](Codes x, Codes y) { return _mm256_unpacklo_ps(__m256(x), __m256(y)); };
    const auto high = [](Codes x, Codes y) { return _mm256_unpackhi_ps(__m256(x), __m256(y)); };
    const __m256 ab_lo = low(rows[0], rows[1]), ab_hi = high(rows[0], rows[1]);
    const __m256 cd_lo = low(rows[2], rows[3]), cd_hi = high(rows[2], rows[3]);
    rows[0] = Codes(_mm256_shuffle_ps(ab_lo, cd_lo, 0x44));
    rows[1] = Codes(_mm256_shuffle_ps(ab_lo, cd_lo, 0xee));
    rows[2] = Codes(_mm256_shuffle_ps(ab_hi, cd_hi, 0x44));
    rows[3] = Codes(_mm256_shuffle_ps(ab_hi, cd_hi, 0xee));
  }
  // out[d], lane i = row(i)[d]
  template <class Row>
  static inline __attribute__((always_inline)) void columns4(const Row& row, Vec (&out)[4]) {
    Codes four[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      four[i] = Codes(_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row(i))),
                                           _mm_loadu_ps(row(i + 4)), 1));
    }
    transpose(four);
#pragma GCC unroll 4
    for (int d = 0; d < 4; ++d) out[d] = {__m256(four[d])};
  }

  // --- into panels ---
  template <ByteOrder kOrder>
  static Codes reorder(Codes c) {
    if (kOrder == ByteOrder::kAsStored) return c;
    const __m128i order =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(kPlaces[static_cast<int>(kOrder)]));
    return Codes(_mm256_shuffle_epi8(__m256i(c), _mm256_broadcastsi128_si256(order)));
  }
  // Stores rows of bytes, `stride` bytes apart: row i has byte i of each lane.
  static void store_bytes(unsigned char* p, std::int64_t stride, Codes c) {
    const __m256i rows = _mm256_permutevar8x32_epi32(__m256i(reorder<ByteOrder::kFours>(c)),
                                                     _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    const auto store = [&](int i, __m128i row) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(p + i * stride), row);
    };
    const __m128i two = _mm256_castsi256_si128(rows), more = _mm256_extracti128_si256(rows, 1);
    store(0, two);
    store(1, _mm_unpackhi_epi64(two, two));
    store(2, more);
    store(3, _mm_unpackhi_epi64(more, more));
  }
  // Stores the lowest two bytes of each lane.
  static void store_halves(unsigned char* p, Codes c) {
    const __m256i fours = _mm256_shuffle_epi8(
        __m256i(c), _mm256_broadcastsi128_si256(_mm_cvtsi64_si128(0x0d0c090805040100)));
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(p),
        _mm_unpacklo_epi64(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1)));
  }
  // Writes past the cache; other threads see it after finish_streams(). p: a multiple of 32.
  static void stream(unsigned char* p, Codes c) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), __m256i(c));
  }
  static void finish_streams() { _mm_sfence(); }
};

}  // namespace
}  // namespace triescope::kernels
