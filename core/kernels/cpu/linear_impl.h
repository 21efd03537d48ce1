// Panels of a linear layer (core/kernels/linear.h has the equation and the order of the sums).
#pragma once

#include "core/kernels/cpu/blocks.h"
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

int panel_width(const LinearCall& call, std::int64_t panel) {
  const std::int64_t left = call.outputs - panel * kPanel;
  return static_cast<int>(left < kPanel ? left : kPanel);
}

// Rows [row, row + count), count <= kMaxRows, over k in [k_begin, k_end), whole chains but for the
// end of k: totals = or += their sums. w: at k_begin.
template <class W>
void sum_chains(const LinearCall& call, std::int64_t row, std::int64_t count, const W* w,
                std::int64_t k_begin, std::int64_t k_end, float* totals) {
  const float* x = call.x + row * call.x_stride;
  for (std::int64_t k0 = k_begin; k0 < k_end; k0 += kLinearChain) {
    const std::int64_t k = k_end - k0 < kLinearChain ? k_end - k0 : kLinearChain;
    kTiles<W>[count](x + k0, call.x_stride, w + (k0 - k_begin) * kPanel, kPanel, k, totals, kPanel,
                     k0 == 0 ? TileUse::kStore : TileUse::kAdd);
  }
}

// Plain weights: [panel][k][32].
template <class W>
void plain_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end) {
  alignas(64) float totals[Vec::kMaxRows * kPanel];
  const std::int64_t tiles = (call.rows + Vec::kMaxRows - 1) / Vec::kMaxRows;
  for (std::int64_t panel = panel_begin; panel < panel_end; ++panel) {
    const W* w = static_cast<const W*>(call.weights) + panel * call.k * kPanel;
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t row = call.rows * t / tiles, count = call.rows * (t + 1) / tiles - row;
      sum_chains(call, row, count, w, 0, call.k, totals);
      finish_rows(call, row, count, totals, panel * kPanel, panel_width(call, panel));
    }
  }
}

// --- weights in a file's blocks: [panel][block of k], panel blocks of cpu/blocks.h ---

// Up to this many rows weights go from the block into the sums without being stored.
constexpr int kFusedRows = 4;

template <class Block, int R>
void fused_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end) {
  // Two vectors of outputs a pass, as many as the tile has accumulators for.
  constexpr int kVecs = 2, kUnits = Block::kValues / Block::kUnit;
  const std::int64_t blocks = call.k / Block::kValues;
  alignas(64) float totals[R * kPanel];
  for (std::int64_t panel = panel_begin; panel < panel_end; ++panel) {
    const auto* w = static_cast<const unsigned char*>(call.weights) +
                    panel * blocks * std::int64_t{Block::kPanelBytes};
    for (int n = 0; n < kPanel; n += kVecs * Vec::kLanes) {
      Vec chain[R][kVecs], total[R][kVecs];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v) chain[r][v] = total[r][v] = Vec::zero();
      }
      std::int64_t k0 = 0;
      const auto end_chain = [&]() __attribute__((always_inline)) {
        const bool first = k0 <= kLinearChain;
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
          for (int v = 0; v < kVecs; ++v) {
            total[r][v] = first ? chain[r][v] : total[r][v] + chain[r][v];
            chain[r][v] = Vec::zero();
          }
        }
      };
      for (std::int64_t b = 0; b < blocks; ++b) {
        const unsigned char* block = w + b * Block::kPanelBytes;
        for (int unit = 0; unit < kUnits; ++unit) {
          const float* x = call.x + k0;
          Block::template decode<Vec, kVecs>(
              block, unit,
              n, [&](int k, const Vec(&weights)[kVecs]) __attribute__((always_inline)) {
#pragma GCC unroll 4
                for (int r = 0; r < R; ++r) {
                  const Vec xv = Vec::set(x[r * call.x_stride + k]);
#pragma GCC unroll 2
                  for (int v = 0; v < kVecs; ++v)
                    chain[r][v] = Vec::fma(xv, weights[v], chain[r][v]);
                }
              });
          k0 += Block::kUnit;
          if (k0 % kLinearChain == 0) end_chain();
        }
      }
      if (k0 % kLinearChain != 0) end_chain();
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < kVecs; ++v)
          total[r][v].store(totals + r * kPanel + n + v * Vec::kLanes);
      }
    }
    finish_rows(call, 0, R, totals, panel * kPanel, panel_width(call, panel));
  }
}

// One unit of a panel block into out [kUnit][32].
template <class Block>
void decode_unit(const unsigned char* block, int unit, float* out) {
  constexpr int kVecs = 2;
  for (int n = 0; n < kPanel; n += kVecs * Vec::kLanes) {
    float* const to = out + n;
    Block::template decode<Vec, kVecs>(
        block, unit, n, [to](int k, const Vec(&weights)[kVecs]) __attribute__((always_inline)) {
#pragma GCC unroll 2
          for (int v = 0; v < kVecs; ++v) weights[v].store(to + k * kPanel + v * Vec::kLanes);
        });
  }
}

// k in [k_begin, k_end), whole units, of a panel into out [k][32].
// noipa: GCC 12's induction variables reach the words of a block of Q2_K through the address of its
// bytes, after which its interprocedural analysis takes the function for one that stores nothing
// and drops the call (test_stored_weights notices).
template <class Block>
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noipa))
#endif
void decode_panel(const unsigned char* w, std::int64_t k_begin, std::int64_t k_end, float* out) {
  for (std::int64_t k = k_begin; k < k_end; k += Block::kUnit) {
    decode_unit<Block>(w + k / Block::kValues * Block::kPanelBytes,
                       static_cast<int>(k % Block::kValues / Block::kUnit),
                       out + (k - k_begin) * kPanel);
  }
}

// More rows: a stretch of k is decoded into call.scratch once, and all rows read it from the cache:
// from the first level for one tile of rows, from the second for many.
template <class Block>
void decoded_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                    float* scratch) {
  const std::int64_t tiles = (call.rows + Vec::kMaxRows - 1) / Vec::kMaxRows;
  const std::int64_t stretch = tiles == 1 ? kLinearChain : kDecodedValues;
  float* totals = scratch + kDecodedValues * kPanel;
  for (std::int64_t panel = panel_begin; panel < panel_end; ++panel) {
    const auto* w = static_cast<const unsigned char*>(call.weights) +
                    panel * (call.k / Block::kValues) * std::int64_t{Block::kPanelBytes};
    for (std::int64_t k0 = 0; k0 < call.k; k0 += stretch) {
      const std::int64_t k1 = call.k - k0 < stretch ? call.k : k0 + stretch;
      decode_panel<Block>(w, k0, k1, scratch);
      for (std::int64_t t = 0; t < tiles; ++t) {
        const std::int64_t row = call.rows * t / tiles, count = call.rows * (t + 1) / tiles - row;
        sum_chains(call, row, count, scratch, k0, k1, totals + row * kPanel);
      }
    }
    finish_rows(call, 0, call.rows, totals, panel * kPanel, panel_width(call, panel));
  }
}

void linear_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                   float* scratch) {
  using formats::GgmlType;
  const bool blocks = with_block(call.type, [&]<class Block>(Block) {
    switch (call.rows) {
      case 1:
        return fused_panels<Block, 1>(call, panel_begin, panel_end);
      case 2:
        return fused_panels<Block, 2>(call, panel_begin, panel_end);
      case 3:
        return fused_panels<Block, 3>(call, panel_begin, panel_end);
      case 4:
        return fused_panels<Block, 4>(call, panel_begin, panel_end);
      default:
        return decoded_panels<Block>(call, panel_begin, panel_end, scratch);
    }
  });
  if (blocks) return;
  if (call.type == GgmlType::kBF16) {
    plain_panels<std::uint16_t>(call, panel_begin, panel_end);
  } else if (call.type == GgmlType::kF16) {
    plain_panels<Half>(call, panel_begin, panel_end);
  } else {
    plain_panels<float>(call, panel_begin, panel_end);
  }
}

// out[k] = the weights of one lane of a panel, decoded or widened
void read_lane(formats::GgmlType type, const void* panel, int lane, std::int64_t k, float* out) {
  alignas(64) float decoded[128 * kPanel];
  const bool blocks = with_block(type, [&]<class Block>(Block) {
    for (std::int64_t k0 = 0; k0 < k; k0 += Block::kUnit) {
      decode_panel<Block>(static_cast<const unsigned char*>(panel), k0, k0 + Block::kUnit, decoded);
      for (int i = 0; i < Block::kUnit; ++i) out[k0 + i] = decoded[i * kPanel + lane];
    }
  });
  if (blocks) return;
  const auto plain = [&]<class W>(const W* w) {
    const int n = lane / Vec::kLanes * Vec::kLanes;
    for (std::int64_t i = 0; i < k; ++i) {
      Vec::load(w + i * kPanel + n).store(decoded);
      out[i] = decoded[lane - n];
    }
  };
  if (type == formats::GgmlType::kBF16) {
    plain(static_cast<const std::uint16_t*>(panel));
  } else if (type == formats::GgmlType::kF16) {
    plain(static_cast<const Half*>(panel));
  } else {
    plain(static_cast<const float*>(panel));
  }
}

}  // namespace
}  // namespace triescope::kernels
