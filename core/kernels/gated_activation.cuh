// The middle of the MLP on CUDA, after the one product for gate and up. The contract; plain C, raw
// device pointers and a stream, no torch.
//
//   gated         in [rows, 2 * dim]: gate, then up    out = act(gate) * up
//   not gated     in [rows, dim]                       out = act(in)
//   out           [rows, dim]; both contiguous and of the dtype, out is not in
// act, in fp32:
//   SiLU          x / (1 + exp(-x))
//   GELU, tanh    x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
//   GELU          x / 2 * (1 + erf(x / sqrt(2)))
// act(gate) and the product are each rounded to the dtype, as by the separate operations of the
// libtorch executor. CPU twin: core/kernels/activation.h. A NaN stays a NaN.
//
// Preconditions
//   checked       1 to 65,535 rows; dim >= 1; a kind of the list; in and out 16-byte aligned (dims
//                 that are multiples of 16 bytes: fast)
//
// Grid: (ceil(dim / (256 * values of a vector)), rows), 256 threads. Every element depends on its
// own inputs alone.
//
// Tolerance against the CPU twin and libtorch, fp32: 4e-6 relative to the element, or 1e-6 times
// `up` (exp within 2 ulp, tanh and erf of other libraries; GELU well below 0 is a difference of
// nearly equal numbers); in fp16 and bf16 a rounding of act and one of the product more or less.
#pragma once

#include "core/kernels/device.cuh"

#ifdef __cplusplus
extern "C" {
#endif

enum TriescopeActivation { kTriescopeSilu = 0, kTriescopeGeluTanh = 1, kTriescopeGelu = 2 };

struct TriescopeGatedActivation {
  const void* in;
  void* out;
  int32_t rows, dim;
  int32_t gated;
  int32_t kind;   // TriescopeActivation
  int32_t dtype;  // TriescopeCudaDType
};

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_gated_activation(const struct TriescopeGatedActivation* call, void* stream);

#ifdef __cplusplus
}
#endif
