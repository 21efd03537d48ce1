// The inner functions of the CPU kernels, once for each instruction set (variant_*.cpp). The
// operations of core/kernels/*.cpp check arguments, share work among threads and call these.
// Internal to core/kernels.
#pragma once

#include <cstdint>

#include "core/files/dequantise.h"
#include "core/kernels/cpu_variant.h"
#include "core/kernels/precision.h"

namespace triescope::kernels {

// Equal to PackedLinear::kChain.
constexpr std::int64_t kLinearChain = 128;

// Number of values of k that are decoded at once where many rows read them: 128 KB for a panel,
// which stay in the second-level cache. A multiple of the chain and of every block.
constexpr std::int64_t kDecodedValues = 1024;
// Up to this many rows, all of them use a chain's weights from the first-level cache before the
// next chain: as long as x takes at most 1 MB of the second-level cache, or the rows are few.
constexpr std::int64_t chainwise_rows(std::int64_t k) {
  const std::int64_t fit = (std::int64_t{1} << 18) / k;
  return fit < 42 ? 42 : fit > 168 ? 168 : fit;
}
// No variant lays out x for more rows than this (CpuKernels::laid_out_rows).
constexpr int kLaidOutRows = 28;
// Scratch of linear_panels(), in floats, for `rows` rows of `k` values: decoded values, a panel's
// sums, and x laid out.
constexpr std::int64_t linear_scratch(std::int64_t rows, std::int64_t k) {
  return (kDecodedValues + rows) * 32 +
         (rows <= kLaidOutRows ? rows * (k / kLinearChain + 1) * (kLinearChain + 16) : 0);
}

// One part of a PackedLinear.
struct LinearCall {
  const void* weights;  // plain: [panels][k][32]; blocks: [panels][k / block][panel block]
  formats::GgmlType type;
  const float* bias;  // [panels * 32] or null
  const float* x;
  std::int64_t x_stride;
  std::int64_t rows, k, outputs;
  float* y;
  std::int64_t y_stride;
  bool add;
  // an earlier call with blocks and the same x and rows laid it out in the scratch
  bool x_in_scratch;
};

// One K/V head and rows [row_begin, row_end): for each row the `group` query heads that read it.
struct AttentionTask {
  const float* q;  // row r's first query head of this K/V head at q + r * q_stride
  std::int64_t q_stride;
  float* out;
  std::int64_t out_stride;
  const void* keys;  // this head's: slot s is at keys + s * slot_stride elements
  const void* values;
  Precision precision;
  std::int64_t slot_stride;
  int group, head_dim, window;
  float scale, softcap;
  const float* sinks;  // [group] or null
  std::int64_t row_begin, row_end;
  // The list of row r: shared_a, shared_b (seen by every row of the task), then its tail.
  const std::int32_t* shared_a;
  std::int64_t shared_a_count;
  const std::int32_t* shared_b;
  std::int64_t shared_b_count;
  // Row r's tail is tails[begin .. end). Lists: tails = own, begin = tail_offsets[r] +
  // shared_b_count, end = tail_offsets[r + 1]. Causal (tail_offsets null): tails = own, begin =
  // row_begin + 1, end = r + 1.
  const std::int32_t* tails;
  const std::int32_t* tail_offsets;
};

// The sweep of a task to do. One thread does the whole task, or threads share each sweep, one sweep
// after the other: laying out the queries; the scores of shared entries [begin, end), counted from the first that any row
// sees, only whole blocks of 32; the other scores; the softmax of queries [begin, end), counted from
// row_begin's first; V of shared entries [begin, end), whole blocks, in order from 0 on; the other V,
// and the output.
enum class AttentionSweep : std::uint8_t {
  kAll,
  kQueries,
  kSharedScores,
  kOtherScores,
  kSoftmax,
  kSharedValues,
  kOtherValues,
};

struct AttentionPart {
  AttentionSweep sweep = AttentionSweep::kAll;
  std::int64_t begin = 0, end = 0;  // entries or queries, as the sweep says
  // The columns of the sweeps of V, in whole panels of 32 (the last may reach beyond head_dim).
  int d_begin = 0, d_end = 0;
};

// Scratch of attention(): for a task, kept from one sweep to the next, and for a thread.
struct AttentionBytes {
  std::int64_t of_task, of_thread;
};

struct CpuKernels {
  // Packs lanes [lane, lane + count) of a panel of blocks. rows: those outputs' rows of k values,
  // as in the file; panel: [k / block][panel block], aligned to 64 bytes.
  void (*pack_panel)(formats::GgmlType type, const unsigned char* rows, int lane, int count,
                     std::int64_t k, void* panel);
  // scratch: [linear_scratch(rows, k)].
  void (*linear_panels)(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                        float* scratch);
  // x is laid out for up to this many rows with blocks; for more it is read in place
  int laid_out_rows;
  // out[k] = weights of one lane (output) of a panel, as fp32
  void (*read_lane)(formats::GgmlType type, const void* panel, int lane, std::int64_t k,
                    float* out);

  AttentionBytes (*attention_scratch_bytes)(std::int64_t queries, int head_dim,
                                            std::int64_t longest);
  void (*attention)(const AttentionTask& task, std::int64_t longest, const AttentionPart& part,
                    void* of_task, void* of_thread);

  float (*max)(const float* x, std::int64_t n);
  // sum exp(x - offset), in fp64 over blocks; out (or null) receives the exponentials
  double (*exp_sum)(const float* x, std::int64_t n, float offset, float* out);
  // first index at or after `from` whose value is > threshold (n if none)
  std::int64_t (*find_greater)(const float* x, std::int64_t from, std::int64_t n, float threshold);

  void (*rms_norm)(const float* x, std::int64_t n, const float* weight, float eps, bool plus_one,
                   float* out);
  void (*layer_norm)(const float* x, std::int64_t n, const float* weight, const float* bias,
                     float eps, float* out);
  // out = act(gate) * up (up null: 1)
  void (*silu)(const float* gate, const float* up, std::int64_t n, float* out);
  void (*gelu_tanh)(const float* gate, const float* up, std::int64_t n, float* out);
  void (*clamped_swiglu)(const float* gate, const float* up, std::int64_t n, float* out);
  void (*softcap)(float* x, float cap, std::int64_t n);
  // One head: x[0 .. 2 * half), half-split.
  void (*rope)(float* x, int half, const float* cos, const float* sin);
  void (*add)(float* x, const float* y, std::int64_t n);
  void (*scale)(float* x, float factor, std::int64_t n);
  // out = x - y; out may be x
  void (*subtract)(const float* x, float y, std::int64_t n, float* out);
};

const CpuKernels& portable_kernels();
// Null if not built.
const CpuKernels* avx2_kernels();
const CpuKernels* avx512_kernels();
const CpuKernels* avx512_intel_kernels();

// A variant's linear_panels() for blocks, in pieces that compile side by side (block_piece.cpp.in): each
// has every kBlockPieces-th type of cpu/blocks.h. False: the piece does not have the call's type.
using LinearPiece = bool(const LinearCall& call, std::int64_t panel_begin, std::int64_t panel_end,
                         float* scratch);
inline constexpr int kBlockPieces = 4;
LinearPiece avx2_blocks_0, avx2_blocks_1, avx2_blocks_2, avx2_blocks_3;
LinearPiece amd_blocks_0, amd_blocks_1, amd_blocks_2, amd_blocks_3;
LinearPiece intel_blocks_0, intel_blocks_1, intel_blocks_2, intel_blocks_3;

// The functions of current_variant().
const CpuKernels& cpu_kernels();

}  // namespace triescope::kernels
