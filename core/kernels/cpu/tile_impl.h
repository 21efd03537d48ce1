// The register tile that linear layers and attention share:
//
//   chain[r, n] = start + sum over k ascending of x[r, k] * w[k, n],  r < R, n < 32
//
// There is one chain of fused multiply-adds for each element, the same whatever R is. A TileUse
// says where the chain starts and what becomes of it. Included once for each variant, after its
// vec_*.h.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "core/kernels/cpu/each.h"
#include "core/kernels/cpu/tuning.h"

namespace triescope::kernels {
namespace {

constexpr int kPanel = 32;

enum class TileUse : std::uint8_t {
  kStore,     // from 0; c = chain
  kAdd,       // from 0; c = c + chain
  kContinue,  // from c; c = chain
};

// sums[kFirst + v] += *x * w[v]
template <Spread kSpread, int kFirst = 0, int NV, int kSums>
inline __attribute__((always_inline)) void add_products(const float* x, const Vec (&w)[NV],
                                                        Vec (&sums)[kSums]) {
  if constexpr (kSpread == Spread::kOnce) {
    const Vec spread = Vec::set(*x);
    each<NV>([&]<int v>() __attribute__((always_inline)) {
      sums[kFirst + v] = Vec::fma(spread, w[v], sums[kFirst + v]);
    });
  } else {
    each<NV>([&]<int v>() __attribute__((always_inline)) {
      sums[kFirst + v] = Vec::fma(x, w[v], sums[kFirst + v]);
    });
  }
}

// Lines that a tile fetches while it computes: some from `from` on, `step` bytes further for each
// k. The hardware's prefetcher alone is too slow. A tile of many rows stays long on a line of
// weights, and the prefetcher falls back (all layers of SmolLM2-135M, 10 rows, two Zen 4 cores:
// bf16 23 instead of 29 ms, fp32 26 instead of 28). On Intel it does not reach what memory gives
// for few rows either (a core of Sapphire Rapids, fp32: 18 instead of 14 GB/s for one row, 16
// instead of 12 for four; bf16: 18 instead of 15.5 for one).
struct Fetch {
  const void* from;
  std::int64_t step;
};

// Fetches the weights that the tile itself reads a little later.
template <class W>
Fetch own_weights(const W* w, std::int64_t w_stride) {
  constexpr int kAhead = 2048 / (kPanel * static_cast<int>(sizeof(W)));
  return {w + kAhead * w_stride, w_stride * static_cast<std::int64_t>(sizeof(W))};
}

// Addresses of R rows of x at one k.
template <int R, Tuning kTuning>
class TileRows {
 public:
  TileRows(const float* x, std::int64_t stride) : stride_(stride) {
    for (int b = 0; b < kBases; ++b) base_[b] = x + kEach * b * stride;
  }
  inline __attribute__((always_inline)) const float* row(int r) const {
    return base_[r / kEach] + r % kEach * stride_;
  }
  inline __attribute__((always_inline)) void next_k() {
#pragma GCC unroll 4
    for (int b = 0; b < kBases; ++b) {
      ++base_[b];
      if (kBases > 1) asm("" : "+r"(base_[b]));  // never derived from another base
    }
  }

 private:
  static constexpr int kEach = kTuning.addresses == Addresses::kByFives ? 5 : R,
                       kBases = (R + kEach - 1) / kEach;
  std::int64_t stride_;
  const float* base_[kBases];
};

// kFetched: bytes that are fetched for each k.
template <int R, int NV, int kFetched, Tuning kTuning, class W>
inline __attribute__((always_inline)) void tile_columns(const float* x, std::int64_t x_stride,
                                                        const W* w, std::int64_t w_stride,
                                                        std::int64_t k, float* c,
                                                        std::int64_t c_stride, TileUse use,
                                                        Fetch fetch) {
  Vec acc[R][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      acc[r][v] =
          use == TileUse::kContinue ? Vec::load(c + r * c_stride + v * Vec::kLanes) : Vec::zero();
  }
  const char* ahead = static_cast<const char*>(fetch.from);
  TileRows<R, kTuning> rows(x, x_stride);
  for (std::int64_t i = 0; i < k; ++i) {
    if constexpr (R >= 6 || sizeof(W) < sizeof(float) || kTuning.fetch_few)
      for (int line = 0; line < kFetched; line += 64) __builtin_prefetch(ahead + line);
    ahead += fetch.step;
    Vec wv[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) wv[v] = Vec::load(w + v * Vec::kLanes);
    w += w_stride;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) add_products<kTuning.spread>(rows.row(r), wv, acc[r]);
    rows.next_k();
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      float* out = c + r * c_stride + v * Vec::kLanes;
      if (use == TileUse::kAdd) acc[r][v] = Vec::load(out) + acc[r][v];
      acc[r][v].store(out);
    }
  }
}

// Vectors of outputs that a tile of R rows computes side by side.
constexpr int tile_vectors(int rows) {
  return rows <= Vec::kWideRows ? kPanel / Vec::kLanes : Vec::kNarrow;
}

template <int R, Tuning kTuning, class W>
void tile(const float* x, std::int64_t x_stride, const W* w, std::int64_t w_stride, std::int64_t k,
          float* c, std::int64_t c_stride, TileUse use, Fetch fetch) {
  constexpr int kVecs = tile_vectors(R);
  constexpr int kBytes = kVecs * Vec::kLanes * static_cast<int>(sizeof(W));
  for (int n = 0; n < kPanel; n += kVecs * Vec::kLanes) {
    const Fetch columns = {static_cast<const W*>(fetch.from) + n, fetch.step};
    tile_columns<R, kVecs, kBytes, kTuning>(x, x_stride, w + n, w_stride, k, c + n, c_stride, use,
                                            columns);
  }
}

// The same for weights that come from memory, [k][32], and c [R][32]. Where a tile is narrower than
// the panel, it goes over the panel's parts a few k at a time, the first of which fetches for all: a
// whole chain at a time, half of the lines would wait until the other half is used up (a Zen 4 core,
// AVX2, fp32, 3 to 6 rows: 0.46 to 0.54 of the time; bf16 0.70 to 0.83).
template <int R, Tuning kTuning, class W>
void tile_from_memory(const float* x, std::int64_t x_stride, const W* w, std::int64_t k, float* c,
                      TileUse use) {
  constexpr int kVecs = tile_vectors(R), kColumns = kVecs * Vec::kLanes;
  if constexpr (kColumns == kPanel) {
    tile<R, kTuning, W>(x, x_stride, w, kPanel, k, c, kPanel, use, own_weights(w, kPanel));
  } else {
    constexpr int kTogether = 16, kBytes = kPanel * static_cast<int>(sizeof(W));
    alignas(64) float chain[R * kPanel];
    for (std::int64_t k0 = 0; k0 < k; k0 += kTogether) {
      const std::int64_t count = k - k0 < kTogether ? k - k0 : kTogether;
      const W* const from = w + k0 * kPanel;
      const Fetch fetch = own_weights(from, kPanel);
      const TileUse part = k0 == 0 ? TileUse::kStore : TileUse::kContinue;
      tile_columns<R, kVecs, kBytes, kTuning>(x + k0, x_stride, from, kPanel, count, chain, kPanel,
                                              part, fetch);
      for (int n = kColumns; n < kPanel; n += kColumns)
        tile_columns<R, kVecs, 0, kTuning>(x + k0, x_stride, from + n, kPanel, count, chain + n,
                                           kPanel, part, fetch);
    }
    for (int i = 0; i < R * kPanel; i += Vec::kLanes) {
      const Vec sum = Vec::load(chain + i);
      (use == TileUse::kAdd ? Vec::load(c + i) + sum : sum).store(c + i);
    }
  }
}

template <class W>
using TileFunction = void (*)(const float*, std::int64_t, const W*, std::int64_t, std::int64_t,
                              float*, std::int64_t, TileUse, Fetch);

// By number of rows, 1 to kMaxRows; the first entry is empty.
template <Tuning kTuning, class W>
constexpr auto kTiles = []<int... R>(std::integer_sequence<int, R...>) {
  return std::array<TileFunction<W>, sizeof...(R) + 1>{nullptr, tile<R + 1, kTuning, W>...};
}
(std::make_integer_sequence<int, Vec::kMaxRows>());

template <class W>
using TileFromMemory = void (*)(const float*, std::int64_t, const W*, std::int64_t, float*,
                                TileUse);
template <Tuning kTuning, class W>
constexpr auto kTilesFromMemory = []<int... R>(std::integer_sequence<int, R...>) {
  return std::array<TileFromMemory<W>, sizeof...(R) + 1>{nullptr,
                                                         tile_from_memory<R + 1, kTuning, W>...};
}
(std::make_integer_sequence<int, Vec::kMaxRows>());

// Any number of rows, cut into tiles of nearly equal height.
template <Tuning kTuning, class W>
void tile_rows(std::int64_t rows, const float* x, std::int64_t x_stride, const W* w,
               std::int64_t w_stride, std::int64_t k, float* c, std::int64_t c_stride,
               TileUse use) {
  const std::int64_t tiles = (rows + Vec::kMaxRows - 1) / Vec::kMaxRows;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t begin = rows * t / tiles, end = rows * (t + 1) / tiles;
    kTiles<kTuning, W>[static_cast<std::size_t>(end - begin)](
        x + begin * x_stride, x_stride, w, w_stride, k, c + begin * c_stride, c_stride, use,
        own_weights(w, w_stride));
  }
}

}  // namespace
}  // namespace triescope::kernels
