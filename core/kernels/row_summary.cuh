// A summary of rows of logits on CUDA: the log of the sum of exponentials, and the k largest. The
// contract; plain C, raw device pointers and a stream, no torch.
//
//   log_sum[r]           = log(sum_t exp(x[r, t]))       relative to the row's maximum
//   values, tokens[r, i] = the i-th largest of x[r, :], best first; ties: the lower index first
//   x                    row r at x + r * row_stride (elements), of `count` tokens, fp32
//   log_sum              [rows] fp32
//   values               [rows, k] fp32
//   tokens               [rows, k] int32
// CPU twins: log_sum_exp and top_k of core/kernels/row_ops.h.
//
// -inf entries are allowed: they come last, among them the lower index first; log_sum is -inf where
// all are -inf. A NaN or +inf makes its row's log_sum non-finite; among the largest a NaN counts
// as -inf. The tokens are always k different ones of the row.
//
// Preconditions
//   checked       rows >= 0 (0: nothing to do); 1 <= k <= kTriescopeRowSummaryBest;
//                 k <= count <= kTriescopeRowSummaryTokens; row_stride >= count; all pointers given;
//                 scratch 16-byte aligned and large enough
//
// Order ("path only"): a row is cut into parts of 4096 tokens. In a part thread t adds the
// exponentials of tokens t, t + 256, ... relative to the part's maximum, then lanes as a tree, then
// warps; the parts' sums, each relative to the row's maximum, are added alike. A row's bits depend
// on its own numbers and on count alone: not on other rows, row_stride or k.
//
// Grid
//   parts         (rows, parts), 256 threads with 16 values each: k rounds, each of which finds the
//                 best of the block and removes it
//   merge         (rows), 256 threads: the same of the parts' best, at most 64 * 64
//
// Tolerance: values and tokens are those of top_k; log_sum is within 2e-6 of the exact value or 2
// ulp (exp within 2 ulp, fp32 sums of at most 16 values, 32 lanes and 8 warps in a row).
#pragma once

#include "core/kernels/device.cuh"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  kTriescopeRowSummaryBest = 64,        // the most that k may be
  kTriescopeRowSummaryTokens = 262144,  // the most that a row may have
};

struct TriescopeRowSummary {
  const float* x;
  int64_t row_stride;  // elements
  float* log_sum;
  float* values;
  int32_t* tokens;
  int32_t rows, count, k;
  void* scratch;         // on the device, 16-byte aligned
  size_t scratch_bytes;  // at least triescope_cuda_row_summary_scratch(...)
};

// Bytes of scratch that a call takes; 0 without rows, or where count or k is not allowed.
size_t triescope_cuda_row_summary_scratch(int32_t rows, int32_t count, int32_t k);

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_row_summary(const struct TriescopeRowSummary* call, void* stream);

#ifdef __cplusplus
}
#endif
