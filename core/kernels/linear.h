// Linear layers with prepacked weights, for 1 to 32 rows (decoding) and for many (prefill).
//
//   y[r, n] = bias[n] + sum over k of x[r, k] * W[n, k]
//
// Invariant ("path only"): a row of y depends on that row of x alone, bit for bit, and not on how
// many rows share the call or on the number of threads. The sum runs over k ascending, in chains of
// kChain fused multiply-adds; the chains' totals are added in order, then the bias. This holds in
// every tile shape and tail. Between instruction sets (a build's AVX-512, AVX2 and portable
// variants) results differ in the last bits.
// Tolerance against libtorch in fp64: 5e-7 of sum_k |x| |W| (8 ulp: chains of fp32 roundings). A
// chain of kChain is short enough for logits to be as near to fp64 as those of libtorch's blocked
// sums (SmolLM2: 0.7 of its distance; 1.6 with chains of 512), and long enough to cost nothing.
//
// Weights are in memory as in their file: fp32, bf16, fp16 or ggml's blocks. They are widened or
// dequantised in registers (or in a stretch that stays in the cache) by the operations of
// formats::dequantise: a row of y has the same bits as with weights that were dequantised
// beforehand.
//
// Layout: panels of kPanel outputs, [panel][k][kPanel] or, for blocks, [panel][block of k][a panel
// block of cpu/blocks.h], so that one pass over the weights from memory serves all rows. Several
// matrices of one input may share a PackedLinear, each a part with a type of its own (q, k, v;
// gate, up); every part begins with a panel. Thread-safety: reading is safe from any thread; set_*
// of distinct rows too. A ThreadPool serves one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/row_costs.h"
#include "core/base/thread_pool.h"
#include "core/files/dequantise.h"
#include "core/kernels/buffer.h"
#include "core/kernels/precision.h"

namespace triescope::kernels {

enum class LinearMode : std::uint8_t { kStore, kAdd };  // y = ..., y = y + (...): the residual

class PackedLinear {
 public:
  static constexpr int kPanel = 32;
  static constexpr int kChain = 128;
  // The costs of rows, by the bytes that a weight takes in memory. fp32 waits for memory: 12 rows
  // cost little more than one, and with 16 bits 8 rows do. Blocks are decoded once for all rows and
  // cost less memory than arithmetic, from the second row on. Measured on two Zen 4 cores
  // (`triescope bench --only rows`, a 1B model in fp32 and bf16, 135M in Q4_1). On two Sapphire
  // Rapids cores a row of blocks costs a quarter from the second on; with that figure more drafts
  // were sent, but decoding was no faster.
  static constexpr RowCosts row_costs(double bytes_per_weight) {
    if (bytes_per_weight > 3) return {12, 0.02, 0.02, 0.1};
    if (bytes_per_weight > 1.5) return {8, 0.05, 0.05, 0.13};
    return {5, 0.2, 0.33, 0.33};
  }

  // Every type that a part can have: F32, F16, BF16 and the block types of cpu/blocks.h.
  static const std::vector<formats::GgmlType>& types();
  static bool holds(formats::GgmlType type);

  // Rows of a matrix: how many, and how they are stored.
  struct Part {
    std::int64_t outputs = 0;
    formats::GgmlType type = formats::GgmlType::kF32;

    static constexpr Part plain(std::int64_t outputs, Precision precision) {
      using formats::GgmlType;
      return {outputs, precision == Precision::kBF16 ? GgmlType::kBF16 : GgmlType::kF32};
    }
    // As the file stores it, except that bf16 rounds types of more bits, and types that no part can
    // have are widened.
    static Part stored(std::int64_t outputs, formats::GgmlType type, Precision precision) {
      using formats::GgmlType;
      const bool has_more = type == GgmlType::kF32 || type == GgmlType::kF16;
      if (!holds(type) || (precision == Precision::kBF16 && has_more))
        return plain(outputs, precision);
      return {outputs, type};
    }
  };

  PackedLinear() = default;
  // All weights are zero, without bias. Error{kOutOfMemory} says how many bytes; kInvalidArgument:
  // a size below 1, inputs that are not whole blocks of a part's type, or a type that is not among
  // types().
  PackedLinear(std::int64_t outputs, std::int64_t inputs, Precision precision);
  PackedLinear(std::span<const Part> parts, std::int64_t inputs);

  // Sets rows [first, first + count) of W from row-major [count, inputs], in any order and in
  // pieces of any size (a loader streams). fp32 is rounded where the part is bf16.
  // Error{kInvalidArgument}: the rows are outside, or in a part of another type than fp32 or bf16.
  void set_rows(std::int64_t first, std::int64_t count, const float* rows, ThreadPool& pool);
  void set_rows_bf16(std::int64_t first, std::int64_t count, const std::uint16_t* rows,
                     ThreadPool& pool);
  // The same for rows as they are in a file, in the type of their part (any type).
  void set_stored_rows(std::int64_t first, std::int64_t count, std::span<const std::byte> rows,
                       ThreadPool& pool);
  // Sets bias[first, first + count); outputs that are never set keep 0.
  void set_bias(std::int64_t first, std::int64_t count, const float* bias);

  // Writes row n of W as fp32 to out[inputs]: the embedding of token n where output and embedding
  // are tied.
  void read_row(std::int64_t n, float* out) const;

  std::int64_t outputs() const { return outputs_; }
  std::int64_t inputs() const { return inputs_; }
  bool empty() const { return outputs_ == 0; }
  bool has_bias() const { return !bias_.empty(); }
  // Two parts with equally many outputs: gate and up.
  bool is_pair() const { return parts_.size() == 2 && parts_[0].outputs == parts_[1].outputs; }
  std::size_t bytes() const { return weights_.bytes() + bias_.bytes(); }

 private:
  friend class LinearRun;
  friend void linear(const PackedLinear& w, const float* x, std::int64_t x_stride,
                     std::int64_t rows, float* y, std::int64_t y_stride, ThreadPool& pool,
                     LinearMode mode);
  struct Placed {  // a part in memory
    std::int64_t first_output, outputs, first_panel, panels;
    formats::GgmlType type;
    std::size_t offset, panel_bytes;
  };
  // Calls f(part, first row within it, count, rows before it) for each part that contains some of
  // the rows.
  template <class F>
  void each_part(const char* what, std::int64_t first, std::int64_t count, F&& f) const;
  template <class Source>
  void pack(const char* what, std::int64_t first, std::int64_t count, const Source* rows,
            ThreadPool& pool);

  std::int64_t outputs_ = 0, inputs_ = 0, panels_ = 0;
  std::vector<Placed> parts_;
  Buffer weights_, bias_;  // bias: [panels * kPanel]
};

// The best distance between rows of `width` floats that linear() reads. Rows a multiple of 2 KB
// apart use the same few sets of the first-level cache, and a tile's rows evict each other, so that
// linear() copies them first (256 rows of 2048 to 768 outputs, Q4_1, two Zen 4 cores: 87 instead of
// 53 to 71 % of the multiply-adds' limit).
constexpr std::int64_t linear_stride(std::int64_t width) {
  constexpr std::int64_t kClash = 512, kLine = 16;
  return width % kClash == 0 ? width + kLine : width;
}

// x: row r at x + r * x_stride, [inputs]. y: row r at y + r * y_stride, [outputs]; y may not
// overlap x. rows >= 0.
void linear(const PackedLinear& w, const float* x, std::int64_t x_stride, std::int64_t rows,
            float* y, std::int64_t y_stride, ThreadPool& pool,
            LinearMode mode = LinearMode::kStore);

}  // namespace triescope::kernels
