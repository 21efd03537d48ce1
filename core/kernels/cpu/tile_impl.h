// The register tile that linear layers and attention share:
//
//   c[r, n] = (load ? c[r, n] : 0) + sum over k ascending of x[r, k] * w[k, n],  r < R, n < 32
//
// one chain of fused multiply-adds per element, the same chain whatever R is. Included once per
// variant, after its vec_*.h.
#pragma once

#include <cstdint>

namespace triescope::kernels {
namespace {

constexpr int kPanel = 32;

template <int R, int NV, class W>
inline __attribute__((always_inline)) void tile_columns(const float* x, std::int64_t x_stride,
                                                        const W* w, std::int64_t w_stride,
                                                        std::int64_t k, float* c,
                                                        std::int64_t c_stride, bool load) {
  Vec acc[R][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      acc[r][v] = load ? Vec::load(c + r * c_stride + v * Vec::kLanes) : Vec::zero();
  }
  for (std::int64_t i = 0; i < k; ++i) {
    // A tile of many rows stays long on a line of weights and the hardware's prefetcher falls back:
    // all layers of SmolLM2-135M, 10 rows, two Zen 4 cores: bf16 23 instead of 29 ms, fp32 26
    // instead of 28.
    if constexpr (R >= 6) {
      for (int n = 0; n < NV * Vec::kLanes; n += 64 / static_cast<int>(sizeof(W))) {
        __builtin_prefetch(w + (i + 16) * w_stride + n);
      }
    }
    Vec wv[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) wv[v] = Vec::load(w + i * w_stride + v * Vec::kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vec xv = Vec::set(x[r * x_stride + i]);
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[r][v] = Vec::fma(xv, wv[v], acc[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) acc[r][v].store(c + r * c_stride + v * Vec::kLanes);
  }
}

template <int R, class W>
void tile(const float* x, std::int64_t x_stride, const W* w, std::int64_t w_stride, std::int64_t k,
          float* c, std::int64_t c_stride, bool load) {
  constexpr int kVecs = R <= Vec::kWideRows ? kPanel / Vec::kLanes : Vec::kNarrow;
  for (int n = 0; n < kPanel; n += kVecs * Vec::kLanes) {
    tile_columns<R, kVecs>(x, x_stride, w + n, w_stride, k, c + n, c_stride, load);
  }
}

template <class W>
using TileFunction = void (*)(const float*, std::int64_t, const W*, std::int64_t, std::int64_t,
                              float*, std::int64_t, bool);

template <class W>
constexpr TileFunction<W> kTiles[] = {
    nullptr,     tile<1, W>,  tile<2, W>,  tile<3, W>,
#if TRIESCOPE_TILE_ROWS > 3
    tile<4, W>,  tile<5, W>,  tile<6, W>,
#endif
#if TRIESCOPE_TILE_ROWS > 6
    tile<7, W>,  tile<8, W>,  tile<9, W>,  tile<10, W>,
    tile<11, W>, tile<12, W>, tile<13, W>, tile<14, W>,
#endif
};
static_assert(Vec::kMaxRows == TRIESCOPE_TILE_ROWS);

// Any number of rows, cut into tiles of nearly equal height.
template <class W>
void tile_rows(std::int64_t rows, const float* x, std::int64_t x_stride, const W* w,
               std::int64_t w_stride, std::int64_t k, float* c, std::int64_t c_stride, bool load) {
  const std::int64_t tiles = (rows + Vec::kMaxRows - 1) / Vec::kMaxRows;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t begin = rows * t / tiles, end = rows * (t + 1) / tiles;
    kTiles<W>[end - begin](x + begin * x_stride, x_stride, w, w_stride, k, c + begin * c_stride,
                           c_stride, load);
  }
}

}  // namespace
}  // namespace triescope::kernels
