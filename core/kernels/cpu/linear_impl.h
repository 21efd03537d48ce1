// Panels of a linear layer (core/kernels/linear.h has the equation and the order of the sums).
#pragma once

#include <array>
#include <cstring>
#include <utility>

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

// `count` <= kMaxRows rows over k in [k_begin, k_end), whole chains except at the end of k: totals
// = their sums, or += them. x and w are those at k_begin. fetch: fetches from here on, for all of
// this k; null: the weights themselves.
template <Tuning kTuning, class W>
void sum_chains(const float* x, std::int64_t x_stride, std::int64_t count, const W* w,
                std::int64_t k_begin, std::int64_t k_end, float* totals, const Fetch* fetch) {
  for (std::int64_t k0 = k_begin; k0 < k_end; k0 += kLinearChain) {
    const std::int64_t k = k_end - k0 < kLinearChain ? k_end - k0 : kLinearChain,
                       before = k0 - k_begin;
    const W* const from = w + before * kPanel;
    kTiles<kTuning, W>[static_cast<std::size_t>(count)](
        x + before, x_stride, from, kPanel, k, totals, kPanel,
        k0 == 0 ? TileUse::kStore : TileUse::kAdd,
        fetch == nullptr
            ? own_weights(from, kPanel)
            : Fetch{static_cast<const char*>(fetch->from) + before * fetch->step, fetch->step});
  }
}

// Plain weights, [panel][k][32], for rows that are one tile.
template <Tuning kTuning, class W>
void plain_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end) {
  alignas(64) float totals[Vec::kMaxRows * kPanel];
  for (std::int64_t panel = panel_begin; panel < panel_end; ++panel) {
    const W* w = static_cast<const W*>(call.weights) + panel * call.k * kPanel;
    for (std::int64_t k = 0; k < call.k; k += kLinearChain) {
      kTilesFromMemory<kTuning, W>[static_cast<std::size_t>(call.rows)](
          call.x + k, call.x_stride, w + k * kPanel,
          call.k - k < kLinearChain ? call.k - k : kLinearChain, totals,
          k == 0 ? TileUse::kStore : TileUse::kAdd);
    }
    finish_rows(call, 0, call.rows, totals, panel * kPanel, panel_width(call, panel));
  }
}

// --- weights in a file's blocks: [panel][block of k], panel blocks of cpu/blocks.h ---

// Fetches the unit that lies some way further, because the hardware's prefetcher alone is too slow:
// it falls back where several rows use a line of weights, and on Intel's processors it does not
// reach what memory gives even for one row. A large block's scales lie behind its codes, so its
// first unit needs the whole block.
template <class Block>
class FetchAhead {
 public:
  FetchAhead(const unsigned char* block, int unit) : ahead_(block + unit * kBytes + kDistance) {}
  // The panel ends at `end`; the `skip` bytes behind it are being read beside it and are not next.
  FetchAhead(const unsigned char* block, int unit, const unsigned char* end, std::int64_t skip)
      : FetchAhead(block, unit) {
    if (ahead_ >= end) ahead_ += skip;
  }

  // All of it.
  void all() const { lines(0, kLines); }
  // The same one line at a time, for types that are faster that way: first() before a unit's values
  // are used, at(k) for each of them.
  void first() const { lines(0, Block::kFetchSpread ? kFirst : kLines); }
  void at(int k) const {
    if (Block::kFetchSpread && k % kStep == 0) lines(kFirst + k / kStep, 1);
  }

 private:
  static constexpr int kBytes = Block::kPanelBytes * Block::kUnit / Block::kValues;
  static constexpr std::int64_t kDistance = Block::kPanelBytes > 2048 ? 8192 : 4096;
  static constexpr int kLines = (kBytes + 63) / 64;
  // Number of values from one line to the next, and the lines that this leaves over.
  static constexpr int kStep = Block::kUnit / 2 <= kLines ? 2 : Block::kUnit / 4 <= kLines ? 4 : 8;
  static constexpr int kFirst = kLines - Block::kUnit / kStep;
  static_assert(kFirst >= 0);

  void lines(int begin, int count) const {
    for (int line = begin; line < begin + count; ++line) __builtin_prefetch(ahead_ + line * 64);
  }

  const unsigned char* ahead_;
};

// Number of vectors of outputs that a tile of `rows` rows computes side by side: several for few
// rows, whose sums would wait for each other; one for many, so that everything fits into registers.
template <class Block>
constexpr int fused_vectors(int rows) {
  constexpr int kAll = kPanel / Vec::kLanes;
  constexpr int kPairs =
      Vec::kFusedPairs - (Block::kFewerPairs && Vec::kScaledPlaces > 1 ? Vec::kFusedPairs / 4 : 0);
  return rows <= Vec::kFusedWide ? (kAll < 4 ? kAll : 4) : rows <= kPairs ? 2 : 1;
}

// Rows of x in the order in which tiles of few rows read them: tile by tile, in each chain by
// chain, in each its rows, kChainStride numbers apart (so that they lie in different sets of the
// cache).
constexpr std::int64_t kChainStride = kLinearChain + 16;

void lay_out_chains(const LinearCall& call, std::int64_t tiles, float* to) {
  for (std::int64_t t = 0; t < tiles; ++t) {
    for (std::int64_t k0 = 0; k0 < call.k; k0 += kLinearChain) {
      const std::int64_t count = call.k - k0 < kLinearChain ? call.k - k0 : kLinearChain;
      for (std::int64_t r = call.rows * t / tiles; r < call.rows * (t + 1) / tiles;
           ++r, to += kChainStride)
        std::memcpy(to, call.x + r * call.x_stride + k0,
                    static_cast<std::size_t>(count) * sizeof(float));
    }
  }
}

// R rows of P panels: weights go from the block into the sums without being stored. w: panel p is
// at w + p * panel_bytes. x: chain c is at x + c * chain_stride, and its row r is r * kChainStride
// further. totals: [P][R][32].
template <class Block, Tuning kTuning, int R, int P>
void fused_tile(const unsigned char* w, std::int64_t panel_bytes, const float* x,
                std::int64_t chain_stride, std::int64_t k, float* totals) {
  // vectors of one panel, and of all
  constexpr int kEach = fused_vectors<Block>(R), kVecs = P * kEach;
  constexpr bool kAllColumns = kEach * Vec::kLanes == kPanel;
  static_assert(P == 1 || kAllColumns);
  // How many vectors are decoded together, unit by unit: with more rows than one, registers do not
  // hold what four need, but more sums still wait less for each other (a Zen 4 core, AVX2, two rows:
  // Q4_0 0.95, Q4_1 0.96, Q5_0 0.94 and Q5_1 0.91 of the time).
  constexpr int kTogether = R > 1 && kVecs > 2 * P ? 2 : kVecs;
  // With many rows x needs all load units (12 rows of Q4_1: 0.87 of the time so), and the sums need
  // all registers, so that none is left for a number that is spread once.
  constexpr CodeLoads kLoads = R <= 10 ? kTuning.loads : CodeLoads::kOnce;
  constexpr Spread kSpread =
      R <= (Block::kFewerPairs ? 7 : 10) ? kTuning.spread : Spread::kEachTime;
  // The part of k that belongs to one block and one chain.
  constexpr int kStretch =
      Block::kValues < kLinearChain ? Block::kValues : static_cast<int>(kLinearChain);
  for (int n = 0; n < kPanel; n += kEach * Vec::kLanes) {
    for (std::int64_t k0 = 0; k0 < k; k0 += kLinearChain) {
      const float* x0 = x + k0 / kLinearChain * chain_stride;
      const int count = static_cast<int>(k - k0 < kLinearChain ? k - k0 : kLinearChain);
      Vec chain[R][kVecs];
      each<R * kVecs>([&]<int i>() __attribute__((always_inline)) {
        chain[i / kVecs][i % kVecs] = Vec::zero();
      });
#pragma GCC unroll 1
      for (int i = 0; i < count; i += kStretch) {
        const unsigned char* block = w + (k0 + i) / Block::kValues * Block::kPanelBytes;
        const int unit = static_cast<int>((k0 + i) % Block::kValues) / Block::kUnit;
#pragma GCC unroll 1
        for (int u = unit; u < unit + kStretch / Block::kUnit; ++u, x0 += Block::kUnit) {
          const auto ahead = [&](int p) __attribute__((always_inline)) {
            return FetchAhead<Block>(block + p * panel_bytes, u, w + (p + 1) * panel_bytes,
                                     (P - 1) * panel_bytes);
          };
#pragma GCC unroll 2
          for (int p = 0; p < P; ++p) {
            if (kAllColumns) {
              ahead(p).first();
            } else if (n == 0) {
              ahead(p).all();  // the other columns then find it in the cache
            }
          }
          each<kVecs / kTogether>([&]<int kGroup>() __attribute__((always_inline)) {
            constexpr int kFirst = kGroup * kTogether;
            Column columns[kTogether];
#pragma GCC unroll 4
            for (int i = 0; i < kTogether; ++i) {
              const int v = kFirst + i;
              columns[i] = {block + v / kEach * panel_bytes, n + v % kEach * Vec::kLanes};
            }
            const auto use = [&](int at, const Vec(&weights)[kTogether])
                __attribute__((always_inline)) {
              if (kAllColumns && kGroup == 0) {
#pragma GCC unroll 2
                for (int p = 0; p < P; ++p) ahead(p).at(at);
              }
              each<R>([&]<int r>() __attribute__((always_inline)) {
                add_products<kSpread, kFirst>(x0 + r * kChainStride + at, weights, chain[r]);
              });
            };
            Block::template decode<Vec, kTogether,
                                   Decoding{Zeros::kAny, kLoads, kTuning.offsets, kTuning.fives}>(
                columns, BlockHalves<Block, Vec, kTogether>(columns), u, use);
          });
        }
      }
      each<R * kVecs>([&]<int i>() __attribute__((always_inline)) {
        constexpr int r = i / kVecs, v = i % kVecs;
        float* total = totals + (v / kEach * R + r) * kPanel + n + v % kEach * Vec::kLanes;
        if (k0 > 0) chain[r][v] = Vec::load(total) + chain[r][v];
        chain[r][v].store(total);
      });
    }
  }
}

using FusedTile = void (*)(const unsigned char*, std::int64_t, const float*, std::int64_t,
                           std::int64_t, float*);

// Dispatches for 1 to kRows rows and P panels.
template <class Block, Tuning kTuning, int kRows, int P>
constexpr auto kFusedTiles = []<int... R>(std::integer_sequence<int, R...>) {
  return std::array<FusedTile, sizeof...(R)>{fused_tile<Block, kTuning, R + 1, P>...};
}
(std::make_integer_sequence<int, kRows>());

// Up to this many rows go through two panels side by side, if a panel is two vectors.
template <class Block, Tuning kTuning>
constexpr int pair_rows() {
  return kTuning.pairs && kPanel / Vec::kLanes == 2 ? Block::kPairRows : 0;
}

// Few rows, in as few tiles as possible: each tile decodes the panel's blocks again, from the
// cache.
template <class Block, Tuning kTuning>
void fused_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                  float* scratch) {
  const std::int64_t tiles = (call.rows + Vec::kFusedRows - 1) / Vec::kFusedRows;
  const std::int64_t chains = (call.k + kLinearChain - 1) / kLinearChain;
  const auto first_row = [&](std::int64_t tile) { return call.rows * tile / tiles; };
  if (call.rows > 1 && !call.x_in_scratch) lay_out_chains(call, tiles, scratch);
  alignas(64) float totals[Vec::kFusedRows * kPanel];
  static_assert(Vec::kFusedRows <= kLaidOutRows);
  const std::int64_t panel_bytes = call.k / Block::kValues * Block::kPanelBytes;
  std::int64_t panel = panel_begin;
  const auto weights = [&] {
    return static_cast<const unsigned char*>(call.weights) + panel * panel_bytes;
  };
  // A single row's chains already lie side by side.
  const bool laid_out = call.rows > 1;
  if constexpr (pair_rows<Block, kTuning>() > 0) {
    static_assert(2 * pair_rows<Block, kTuning>() <= Vec::kFusedRows);
    for (; call.rows <= pair_rows<Block, kTuning>() && panel_end - panel >= 2; panel += 2) {
      kFusedTiles<Block, kTuning, pair_rows<Block, kTuning>(), 2>[static_cast<std::size_t>(
          call.rows - 1)](weights(), panel_bytes, laid_out ? scratch : call.x,
                          laid_out ? call.rows * kChainStride : kLinearChain, call.k, totals);
      for (int p = 0; p < 2; ++p)
        finish_rows(call, 0, call.rows, totals + p * call.rows * kPanel, (panel + p) * kPanel,
                    panel_width(call, panel + p));
    }
  }
  for (; panel < panel_end; ++panel) {
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t row = first_row(t), count = first_row(t + 1) - row;
      const float* x = laid_out ? scratch + row * chains * kChainStride : call.x;
      kFusedTiles<Block, kTuning, Vec::kFusedRows, 1>[static_cast<std::size_t>(count - 1)](
          weights(), panel_bytes, x, laid_out ? count * kChainStride : kLinearChain, call.k,
          totals);
      finish_rows(call, row, count, totals, panel * kPanel, panel_width(call, panel));
    }
  }
}

// Decodes one unit of a panel block into out [kUnit][32].
template <class Block>
inline __attribute__((always_inline)) void decode_unit(const unsigned char* block, int unit,
                                                       float* out) {
  constexpr int kVecs = 2;
  for (int n = 0; n < kPanel; n += kVecs * Vec::kLanes) {
    float* const to = out + n;
    Column columns[kVecs];
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) columns[v] = {block, n + v * Vec::kLanes};
    const auto use = [to](int k, const Vec(&weights)[kVecs]) __attribute__((always_inline)) {
#pragma GCC unroll 2
      for (int v = 0; v < kVecs; ++v) weights[v].store(to + k * kPanel + v * Vec::kLanes);
    };
    Block::template decode<Vec, kVecs,
                           Decoding{Zeros::kSigned, CodeLoads::kOnce, Offsets::kFused,
                                    Fives::kOfTwoRegisters}>(
        columns, BlockHalves<Block, Vec, kVecs>(columns), unit, use);
  }
}

// Decodes k in [k_begin, k_end), whole units, of a panel into out [k][32]. noipa: GCC 12's
// induction variables reach the words of a block (Q2_K, Q3_K) through the address of its bytes. Its
// interprocedural analysis then believes that the function stores nothing and drops the call
// (test_stored_weights notices).
template <class Block>
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noipa))
#endif
void decode_panel(const unsigned char* w, std::int64_t k_begin, std::int64_t k_end, float* out,
                  bool fetch_ahead) {
  for (std::int64_t k = k_begin; k < k_end; k += Block::kUnit) {
    const unsigned char* block = w + k / Block::kValues * Block::kPanelBytes;
    const auto unit = static_cast<int>(k % Block::kValues / Block::kUnit);
    if (fetch_ahead) FetchAhead<Block>(block, unit).all();
    decode_unit<Block>(block, unit, out + (k - k_begin) * kPanel);
  }
}

// --- many rows ---

// A stretch of k is widened or decoded once, and all rows read it from the cache: from the first
// level for few tiles of rows, from the second for many. Each tile is finished before the next, so
// that its lines of y are written while the next is computed (512 rows of 3072 outputs, two
// Sapphire Rapids cores: 91 instead of 80 % of the multiply-adds' limit). Meanwhile each tile of a
// stretch fetches its share of what is decoded next.
//
// tile_weights(panel, k_begin, k_end, room, fetch_ahead) returns [k][32] for tiles, either in place
// or written into room; fetch_ahead: it must fetch what comes later, because the tiles do not.
// stored(panel, k): where the weights from k on lie; panels follow one another. When a stretch is
// decoded, `ahead` bytes beyond its own are in the cache.
template <Tuning kTuning, class Weights, class Stored>
void many_rows(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
               float* scratch, const Weights& tile_weights, const Stored& stored,
               std::int64_t ahead) {
  const std::int64_t tiles = (call.rows + Vec::kMaxRows - 1) / Vec::kMaxRows;
  const bool chainwise = call.rows <= chainwise_rows(call.k);
  const std::int64_t stretch = chainwise ? kLinearChain : kDecodedValues;
  float* const totals = scratch + kDecodedValues * kPanel;
  for (std::int64_t panel = panel_begin; panel < panel_end; ++panel) {
    for (std::int64_t k0 = 0; k0 < call.k; k0 += stretch) {
      const std::int64_t k1 = call.k - k0 < stretch ? call.k : k0 + stretch;
      const auto* const weights = tile_weights(panel, k0, k1, scratch, !chainwise);
      // The next stretch, in this panel or the next.
      const unsigned char* const next = stored(panel, k1) + ahead;
      const std::int64_t next_k = k1 < call.k ? call.k - k1 : call.k;
      const std::int64_t share =
          (stored(panel, next_k < stretch ? next_k : stretch) - stored(panel, 0)) / tiles;
      for (std::int64_t t = 0; t < tiles; ++t) {
        const std::int64_t row = call.rows * t / tiles, count = call.rows * (t + 1) / tiles - row;
        const Fetch fetch = {next + t * share, share / (k1 - k0)};
        sum_chains<kTuning>(call.x + row * call.x_stride + k0, call.x_stride, count, weights, k0,
                            k1, totals + row * kPanel, chainwise ? &fetch : nullptr);
        if (k1 == call.k)
          finish_rows(call, row, count, totals + row * kPanel, panel * kPanel,
                      panel_width(call, panel));
      }
    }
  }
}

template <Tuning kTuning, class Block>
void many_rows_of_blocks(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                         float* scratch) {
  const auto* const blocks = static_cast<const unsigned char*>(call.weights);
  const std::int64_t panel_bytes = call.k / Block::kValues * Block::kPanelBytes;
  many_rows<kTuning>(
      call, panel_begin, panel_end, scratch,
      [&](std::int64_t panel, std::int64_t k0, std::int64_t k1, float* room, bool fetch_ahead) {
        decode_panel<Block>(blocks + panel * panel_bytes, k0, k1, room, fetch_ahead);
        return room;
      },
      [&](std::int64_t panel, std::int64_t k) {
        return blocks + panel * panel_bytes + k * Block::kPanelBytes / Block::kValues;
      },
      // A large block's scales lie behind all of its codes.
      Block::kValues > kLinearChain ? Block::kPanelBytes / 2 : 0);
}

template <Tuning kTuning, class W>
void many_plain_rows(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                     float* scratch) {
  const W* const w = static_cast<const W*>(call.weights);
  constexpr bool kWiden = sizeof(W) < sizeof(float) && kTuning.widen_once;
  many_rows<kTuning>(
      call, panel_begin, panel_end, scratch,
      [&](std::int64_t panel, std::int64_t k0, [[maybe_unused]] std::int64_t k1,
          [[maybe_unused]] float* room, [[maybe_unused]] bool fetch_ahead) {
        const W* const from = w + (panel * call.k + k0) * kPanel;
        if constexpr (!kWiden) {
          return from;
        } else {
          constexpr int kAhead = 4096 / static_cast<int>(sizeof(W));
          for (std::int64_t i = 0; i < (k1 - k0) * kPanel; i += kPanel) {
            if (fetch_ahead) __builtin_prefetch(from + i + kAhead);
#pragma GCC unroll 8
            for (int n = 0; n < kPanel; n += Vec::kLanes)
              Vec::load(from + i + n).store(room + i + n);
          }
          return room;
        }
      },
      [&](std::int64_t panel, std::int64_t k) {
        return reinterpret_cast<const unsigned char*>(w + (panel * call.k + k) * kPanel);
      },
      0);
}

// Up to this many rows go through tiles that take the weights as they are stored: the rows of one
// tile, with blocks perhaps of two.
template <Tuning kTuning>
constexpr int few_rows(bool blocks) {
  if (!blocks) return Vec::kMaxRows;
  return kTuning.decode_once ? Vec::kFusedRows : kLaidOutRows;
}

// linear_panels() for the block types of a piece (LinearPiece).
template <Tuning kTuning, int kPiece, int kPieces>
bool block_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                  float* scratch) {
  return BlockTypes::with_of_piece<kPiece, kPieces>(call.type, [&]<class Block>(Block) {
    if (call.rows > few_rows<kTuning>(true)) {
      many_rows_of_blocks<kTuning, Block>(call, panel_begin, panel_end, scratch);
    } else {
      fused_panels<Block, kTuning>(call, panel_begin, panel_end, scratch);
    }
  });
}

template <Tuning kTuning, LinearPiece*... kBlocks>
void linear_panels(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                   float* scratch) {
  using formats::GgmlType;
  if ((kBlocks(call, panel_begin, panel_end, scratch) || ...)) return;
  const auto plain = [&]<class W>(W) {
    if (call.rows > few_rows<kTuning>(false)) {
      many_plain_rows<kTuning, W>(call, panel_begin, panel_end, scratch);
    } else {
      plain_panels<kTuning, W>(call, panel_begin, panel_end);
    }
  };
  if (call.type == GgmlType::kBF16) {
    plain(std::uint16_t{});
  } else if (call.type == GgmlType::kF16) {
    plain(Half{});
  } else {
    plain(float{});
  }
}

// out[k] = the weights of one lane of a panel, decoded or widened.
void read_lane(formats::GgmlType type, const void* panel, int lane, std::int64_t k, float* out) {
  alignas(64) float decoded[128 * kPanel];
  const bool blocks = BlockTypes::with(type, [&]<class Block>(Block) {
    for (std::int64_t k0 = 0; k0 < k; k0 += Block::kUnit) {
      decode_panel<Block>(static_cast<const unsigned char*>(panel), k0, k0 + Block::kUnit, decoded,
                          false);
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
