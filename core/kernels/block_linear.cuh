// Linear layers from GGUF blocks as they lie in the file, for few rows, on CUDA: the contract.
// Plain C, raw device pointers and a stream; no torch.
//
//   y[r, n] = sum over k of x[r, k] * W[n, k]  (+ bias[n])
//
//   blocks  W: [outputs, inputs] in blocks of `type`, row by row, without gaps; or dense, F16 or BF16,
//           where x is of the same dtype (for an output head, whose logits are not to be rounded)
//   x       row r at x + r * x_stride (elements), [inputs]
//   bias    [outputs], of x's dtype; NULL = none
//   y       row r at y + r * y_stride (elements), [outputs]; may not overlap x
// All pointers are of the device. A weight is dequantised in registers, with the bits of
// formats::dequantise, and never rounded to x's dtype; sums are fp32, y is rounded once. The CPU
// twin is core/kernels/linear.h.
//
// Preconditions, checked: rows from 1 to 16; inputs a multiple of the type's block; blocks on a
// multiple of 4 bytes (2 for Q4_0, Q5_0, Q8_0, Q3_K, Q6_K, IQ4_NL), x on a multiple of 16 and
// x_stride a multiple of 4; strides no shorter than their rows. Dense weights: inputs a multiple of
// 8, W on a multiple of 16 bytes.
//
// Order ("path only"): eight values of k are a unit; thread t of 128 adds the units t, t + 128, ...
// in one chain of fused multiply-adds, a warp's 32 sums are added in pairs (lanes 16 apart, then 8,
// 4, 2, 1), the four warps' sums in order, then the bias. Nothing depends on the number of rows or
// of outputs, so a row has the same bits whatever stands beside it, and an output whatever its
// matrix.
//
// Grid: ceil(outputs / 4) blocks of 128 threads (outputs / 2 for more than 8 rows); a block reads
// its outputs' weights once for all rows.
//
// Tolerance against a product in fp64, of sum_k |x| |W|
//   fp32    5e-7 (8 ulp: chains of inputs / 1024 units, then 9 additions)
//   fp16    5e-4 and bf16 4e-3 of |y| besides: y's own rounding
#pragma once

#include "core/kernels/device.cuh"

#ifdef __cplusplus
extern "C" {
#endif

enum { kTriescopeBlockLinearRows = 16 };  // the most rows of a call

struct TriescopeBlockLinear {
  const void* blocks;
  int32_t type;  // ggml's number: formats::GgmlType
  int32_t outputs, inputs;
  int32_t rows;
  const void* x;
  int64_t x_stride;
  int32_t x_dtype;  // TriescopeCudaDType, of x and bias
  int32_t y_dtype;
  const void* bias;
  void* y;
  int64_t y_stride;
};

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_block_linear(const struct TriescopeBlockLinear* call, void* stream);

#ifdef __cplusplus
}
#endif
