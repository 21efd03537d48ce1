// Attention of few queries: K and V go from where they lie into the sums of all queries, without a
// panel in between. Each score is one chain over the head's dimensions, and each column of the sum of
// V is one chain over the list, as in the tile (tile_impl.h), so that both have its bits.
#pragma once

#include <cstdint>

#include "core/kernels/cpu/tile_impl.h"
#include "core/kernels/cpu/tuning.h"

namespace triescope::kernels {
namespace {

struct Slots {
  const std::int32_t* first = nullptr;
  int count = 0;
};

// Whether the slots follow one another in memory.
inline bool in_order(Slots slots) {
  std::int32_t gaps = 0;
  for (int i = 0; i < slots.count; ++i) gaps |= slots.first[i] - slots.first[0] - i;
  return gaps == 0;
}

// Fetches rows of slots into the second-level cache, a few lines at each call: fetches that come all
// at once are often dropped. (Always inlined: compilers drop the call of a function that only
// fetches.)
template <class E>
class FetchRows {
 public:
  // The first `width` elements of each row.
  FetchRows(const E* base, std::int64_t stride, int width, Slots slots)
      : base_(base), stride_(stride), bytes_(width * static_cast<int>(sizeof(E))), slots_(slots) {}

  // The next kLines lines, by twos.
  template <int kLines>
  inline __attribute__((always_inline)) void next() {
#pragma GCC unroll 4
    for (int line = 0; line < kLines; line += 2) {
      if (at_ >= end_) {
        if (slots_.count == 0) return;
        at_ = reinterpret_cast<const char*>(base_ + *slots_.first * stride_);
        end_ = at_ + bytes_;
        ++slots_.first;
        --slots_.count;
      }
      __builtin_prefetch(at_, 0, 2);
      __builtin_prefetch(at_ + 64, 0, 2);
      at_ += 128;
    }
  }
  // All that next() has left over.
  inline __attribute__((always_inline)) void rest() {
    while (at_ < end_ || slots_.count > 0) next<2>();
  }

 private:
  const E* base_;
  std::int64_t stride_;
  int bytes_;
  Slots slots_;
  const char *at_ = nullptr, *end_ = nullptr;
};

// Rows of K that begin anywhere.
template <class E>
class ListedRows {
 public:
  explicit ListedRows(const E* const* rows) : rows_(rows) {}
  inline __attribute__((always_inline)) const E* operator()(int i) const { return rows_[i] + at_; }
  inline __attribute__((always_inline)) void advance(int elements) { at_ += elements; }

 private:
  const E* const* rows_;
  std::int64_t at_ = 0;
};

// kRows rows of K, one after another. Every fourth has a register of its own, and the three behind it
// are one, two and three strides further; left alone, compilers keep an address for each row, most of
// them on the stack.
template <class E, int kRows>
class RowsInOrder {
 public:
  RowsInOrder(const E* first, std::int64_t stride)
      : one_(stride * static_cast<std::int64_t>(sizeof(E))), three_(3 * one_) {
    for (int i = 0; i < kRows / 4; ++i)
      fourth_[i] = reinterpret_cast<const char*>(first + 4 * i * stride);
    asm("" : "+r"(one_), "+r"(three_));
  }
  inline __attribute__((always_inline)) const E* operator()(int i) const {
    const std::int64_t further = i % 4 == 3 ? three_ : i % 4 * one_;
    return reinterpret_cast<const E*>(fourth_[i / 4] + further);
  }
  inline __attribute__((always_inline)) void advance(int elements) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows / 4; ++i) {
      fourth_[i] += elements * static_cast<int>(sizeof(E));
      asm("" : "+r"(fourth_[i]));  // never derived from another
    }
  }

 private:
  std::int64_t one_, three_;
  const char* fourth_[kRows / 4];
};

inline float as_float(float x) { return x; }
inline float as_float(std::uint16_t bf16) {
  const std::uint32_t bits = std::uint32_t{bf16} << 16;
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}

// scores[r * stride + i] = x[r] . row i, for R queries [R][head_dim] and kVecs vectors of rows.
template <Tuning kTuning, int R, int kVecs, class E, class Rows, class Fetch>
inline __attribute__((always_inline)) void score_rows(const float* x, int head_dim, Rows rows,
                                                      float* scores, std::int64_t stride,
                                                      Fetch& fetch) {
  constexpr int kStep = 16 / static_cast<int>(sizeof(E));  // dimensions in four words
  constexpr int kRows = kVecs * Vec::kLanes;
  Vec sums[R][kVecs];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) sums[r][v] = Vec::zero();
  }
  const auto add = [&](int d, const Vec(&column)[kVecs]) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      add_products<kTuning.spread>(x + r * static_cast<std::int64_t>(head_dim) + d, column,
                                   sums[r]);
  };
  int d = 0;
  for (; d + kStep <= head_dim; d += kStep) {
    if constexpr (kTuning.fetch_kv) fetch.template next<kRows / 4>();
    Vec words[kVecs][4];
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      Vec::columns4(
          [&](int i) __attribute__((always_inline)) {
            return reinterpret_cast<const float*>(rows(v * Vec::kLanes + i));
          },
          words[v]);
    }
    rows.advance(kStep);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 2
      for (int half = 0; half < kStep / 4; ++half) {
        Vec column[kVecs];
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v) {
          if constexpr (sizeof(E) == 4) {
            column[v] = words[v][i];
          } else {
            column[v] = half == 0 ? Vec::lower_bf16(words[v][i]) : Vec::upper_bf16(words[v][i]);
          }
        }
        add(d + i * (kStep / 4) + half, column);
      }
    }
  }
  for (; d < head_dim; ++d, rows.advance(1)) {
    alignas(64) float of_slots[kRows];
    for (int i = 0; i < kRows; ++i) of_slots[i] = as_float(*rows(i));
    Vec column[kVecs];
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) column[v] = Vec::load(of_slots + v * Vec::kLanes);
    add(d, column);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) sums[r][v].store(scores + r * stride + v * Vec::kLanes);
  }
}

// sums[r * sums_stride + n] += sum over i of p[r * p_stride + i] * base[slots[i] * stride + n] for R
// queries and kVecs vectors of columns, continuing each chain. The columns of `ahead` are fetched
// meanwhile.
template <Tuning kTuning, int R, int kVecs, class E>
void add_values(const float* p, std::int64_t p_stride, const E* base, std::int64_t stride,
                Slots slots, float* sums, std::int64_t sums_stride, Slots ahead) {
  Vec acc[R][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) acc[r][v] = Vec::load(sums + r * sums_stride + v * Vec::kLanes);
  }
  for (int i = 0; i < slots.count; ++i, ++p) {
    if (kTuning.fetch_kv && i < ahead.count) {
      const E* const later = base + ahead.first[i] * stride;
      constexpr int kLine = 64 / static_cast<int>(sizeof(E));
#pragma GCC unroll 4
      for (int n = 0; n < kVecs * Vec::kLanes; n += kLine) __builtin_prefetch(later + n, 0, 2);
    }
    const E* const row = base + slots.first[i] * stride;
    Vec weight[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) weight[r] = Vec::set(p[r * p_stride]);
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) {
      const Vec values = Vec::load(row + v * Vec::kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) acc[r][v] = Vec::fma(weight[r], values, acc[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) acc[r][v].store(sums + r * sums_stride + v * Vec::kLanes);
  }
}

// f<n>() for n in [1, kMost].
template <int kMost, class F>
inline __attribute__((always_inline)) void with_number(int n, const F& f) {
  if constexpr (kMost > 1) {
    if (n < kMost) return with_number<kMost - 1>(n, f);
  }
  f.template operator()<kMost>();
}

}  // namespace
}  // namespace triescope::kernels
