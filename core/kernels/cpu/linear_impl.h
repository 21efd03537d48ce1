// Panels of a linear layer (core/kernels/linear.h has the equation and the order of the sums).
#pragma once

#include "core/kernels/cpu/table.h"
#include "core/kernels/cpu/tile_impl.h"

namespace triescope::kernels {
namespace {

// y[r, 0..width) (+)= totals[r] + bias
void finish_rows(const LinearCall& call, std::int64_t row, std::int64_t count, const float* totals,
                 std::int64_t n0, int width) {
  for (std::int64_t r = 0; r < count; ++r) {
    float* y = call.y + (row + r) * call.y_stride + n0;
    const float* total = totals + r * kPanel;
    for (int n = 0; n < width; n += Vec::kLanes) {
      const int part = width - n;
      Vec sum = Vec::load(total + n);
      if (call.bias != nullptr) sum = sum + Vec::load(call.bias + n0 + n);
      if (part >= Vec::kLanes) {
        if (call.add) sum = Vec::load(y + n) + sum;
        sum.store(y + n);
      } else {
        if (call.add) sum = Vec::load_part(y + n, part, 0) + sum;
        sum.store_part(y + n, part);
      }
    }
  }
}

template <class W>
void linear_panels_of(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end) {
  alignas(64) float totals[Vec::kMaxRows * kPanel];
  const std::int64_t tiles = (call.rows + Vec::kMaxRows - 1) / Vec::kMaxRows;
  for (std::int64_t panel = panel_begin; panel < panel_end; ++panel) {
    const W* w = static_cast<const W*>(call.weights) + panel * call.k * kPanel;
    const std::int64_t n0 = panel * kPanel;
    const int width = static_cast<int>(call.outputs - n0 < kPanel ? call.outputs - n0 : kPanel);
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t row = call.rows * t / tiles, count = call.rows * (t + 1) / tiles - row;
      const float* x = call.x + row * call.x_stride;
      for (std::int64_t k0 = 0; k0 < call.k; k0 += kLinearChain) {
        const std::int64_t k = call.k - k0 < kLinearChain ? call.k - k0 : kLinearChain;
        kTiles<W>[count](x + k0, call.x_stride, w + k0 * kPanel, kPanel, k, totals, kPanel,
                         k0 == 0 ? TileUse::kStore : TileUse::kAdd);
      }
      finish_rows(call, row, count, totals, n0, width);
    }
  }
}

void linear_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end) {
  if (call.precision == Precision::kBF16) {
    linear_panels_of<std::uint16_t>(call, panel_begin, panel_end);
  } else {
    linear_panels_of<float>(call, panel_begin, panel_end);
  }
}

}  // namespace
}  // namespace triescope::kernels
