// Linear layers with prepacked weights, for 1 to 32 rows (decoding) and for many (prefill).
//
//   y[r, n] = bias[n] + sum over k of x[r, k] * W[n, k]
//
// Invariant ("path only"): a row of y depends on that row of x alone, bit for bit: not on how many
// rows share the call, nor on the number of threads. The sum runs over k ascending, in chains of
// kChain fused multiply-adds; the chains' totals are added in order; then the bias. The same in
// every tile shape and tail. Between instruction sets (a build's AVX-512, AVX2 and portable
// variants) results differ in the last bits.
// Tolerance against libtorch in fp64: 5e-7 of sum_k |x| |W| (8 ulp: chains of fp32 roundings). A
// chain of kChain is short enough for logits to be as near to fp64 as those of libtorch's blocked
// sums (SmolLM2: 0.7 of its distance; 1.6 with chains of 512), and long enough to cost nothing.
//
// Layout: panels of kPanel outputs, [panel][k][kPanel], so that one pass over the weights from
// memory serves all rows. Several matrices of one input may share a PackedLinear (q, k, v; gate,
// up): set_rows at their offsets. Thread-safety: reading is safe from any thread; set_* of distinct
// rows too. A ThreadPool serves one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/thread_pool.h"
#include "core/kernels/buffer.h"
#include "core/kernels/precision.h"

namespace triescope::kernels {

class PackedLinear {
 public:
  static constexpr int kPanel = 32;
  static constexpr int kChain = 128;
  // Up to this many rows cost little more than one (bench_kernels): a pass over the weights is
  // bound by memory.
  static constexpr int kCheapRows = 12;

  PackedLinear() = default;
  // All weights zero, no bias. Error{kOutOfMemory}: says how many bytes; kInvalidArgument: a size
  // below 1.
  PackedLinear(std::int64_t outputs, std::int64_t inputs, Precision precision);

  // Rows [first, first + count) of W from row-major [count, inputs], in any order and chunking (a
  // loader streams). Error{kInvalidArgument} where they lie outside.
  void set_rows(std::int64_t first, std::int64_t count, const float* rows, ThreadPool& pool);
  void set_rows_bf16(std::int64_t first, std::int64_t count, const std::uint16_t* rows,
                     ThreadPool& pool);
  // bias[first, first + count); outputs never set stay 0.
  void set_bias(std::int64_t first, std::int64_t count, const float* bias);

  // Row n of W as fp32 into out[inputs]: the embedding of token n where output and embedding are
  // tied.
  void read_row(std::int64_t n, float* out) const;

  std::int64_t outputs() const { return outputs_; }
  std::int64_t inputs() const { return inputs_; }
  Precision precision() const { return precision_; }
  bool empty() const { return outputs_ == 0; }
  bool has_bias() const { return !bias_.empty(); }
  std::size_t bytes() const { return weights_.bytes() + bias_.bytes(); }
  std::int64_t panels() const { return (outputs_ + kPanel - 1) / kPanel; }
  const void* weights() const { return weights_.data(); }        // [panels][inputs][kPanel]
  const float* bias() const { return bias_.as<const float>(); }  // [panels * kPanel] or null

 private:
  template <class Source>
  void pack(std::int64_t first, std::int64_t count, const Source* rows, ThreadPool& pool);

  std::int64_t outputs_ = 0, inputs_ = 0;
  Precision precision_ = Precision::kF32;
  Buffer weights_, bias_;
};

enum class LinearMode : std::uint8_t { kStore, kAdd };  // y = ..., y = y + (...): the residual

// x: row r at x + r * x_stride, [inputs]. y: row r at y + r * y_stride, [outputs]; y may not
// overlap x. rows >= 0.
void linear(const PackedLinear& w, const float* x, std::int64_t x_stride, std::int64_t rows,
            float* y, std::int64_t y_stride, ThreadPool& pool,
            LinearMode mode = LinearMode::kStore);

}  // namespace triescope::kernels
