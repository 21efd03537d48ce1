// A layer's residual stream on CUDA: add what a branch computed, then normalise. The contract;
// plain C, raw device pointers and a stream, no torch.
//
//   x      = x + h                              h == NULL: x stays
//            x + norm(h) * post                 post != NULL (Gemma's norms after a branch)
//   out    = norm(x) * weight + bias            bias == NULL: none
// with v -> norm(v) over a row, n = dim:
//   RMS    v / sqrt(sum v^2 / n + eps)
//   layer  (v - mean) / sqrt(sum (v - mean)^2 / n + eps)
// Arithmetic is fp32; norm(h) * post, x and out are each rounded to the dtype once, as by the
// separate operations of the libtorch executor. CPU twins: core/kernels/norm.h, add_to of
// activation.h.
//   x, h, out       [rows, dim], contiguous, of the dtype; x is read and written, out is not x
//   post, weight, bias   [dim] fp32
//
// Preconditions
//   checked       rows, dim >= 1; eps >= 0; x, out, weight given; x, h and out 16-byte aligned
//                 (dims that are multiples of 16 bytes: fast)
//
// Order: a sum over a row is a chain a thread (vectors t, t + 256, ... of 16 bytes, or single
// values where a row is not whole vectors), then lanes as a tree, then warps. It depends on dim and
// dtype alone, so a row's bits do not depend on other rows. A NaN makes its row NaN.
//
// Grid: (rows), 256 threads.
//
// Tolerance: of x without post none, the same bits as libtorch's addition. Of a norm, against the
// CPU twin and libtorch in fp32: 2e-6 relative, 1e-5 for a layer norm (another order of summation);
// in fp16 and bf16 one rounding more or less where a value lies between two.
#pragma once

#include "core/kernels/device.cuh"

#ifdef __cplusplus
extern "C" {
#endif

struct TriescopeAddNorm {
  void* x;
  const void* h;
  const float* post;
  const float* weight;
  const float* bias;
  void* out;
  int32_t rows, dim;
  float eps;
  int32_t layer_norm;  // 0: RMS
  int32_t dtype;       // TriescopeCudaDType
};

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_add_norm(const struct TriescopeAddNorm* call, void* stream);

#ifdef __cplusplus
}
#endif
