// The first step of a forward on CUDA: rows of the embedding matrix become the residual stream, and
// are normalised for the first layer. The contract; plain C, raw device pointers and a stream, no
// torch.
//
//   x[i]   = E[ids[i]] * scale + P[positions[i]]     scale 1, position_table NULL: without
//   out[i] = norm(x[i]) * weight + bias              bias NULL: none; norm as in add_norm.cuh
// E is dense and of the dtype, or lies in GGUF blocks. Its values, their product with the scale
// (itself rounded to the dtype first), the sum with P, and out are each rounded to the dtype, as by
// the separate operations of the libtorch executor. CPU twins: formats::dequantise,
// core/kernels/norm.h.
//   table           E: [vocab, dim] of the dtype, or rows of blocks without gaps
//   type            of the blocks, ggml's number (formats::GgmlType); -1: dense
//   ids             [rows] rows of E
//   position_table  P: [.., dim] of the dtype
//   positions       [rows] rows of P
//   weight, bias    [dim] fp32
//   x, out          [rows, dim], contiguous, of the dtype
//
// Preconditions
//   checked       rows, dim >= 1; eps >= 0; table, ids, x, out, weight given, and positions where
//                 there is a table of them; tables, x and out 16-byte aligned (blocks: as in
//                 block_rows.cuh); a dim of whole blocks
//   not checked   ids and positions lie within their tables
//
// Order: that of add_norm.cuh. x and out have the bits that block_rows or a copy of the rows, then
// add_norm, would give. A row's bits do not depend on other rows. A NaN makes its row NaN.
//
// Grid: (rows), 256 threads.
//
// Tolerance: x has the bits of libtorch's operations; out as in add_norm.cuh.
#pragma once

#include "core/kernels/device.cuh"

#ifdef __cplusplus
extern "C" {
#endif

struct TriescopeEmbedNorm {
  const void* table;
  int32_t type;
  const int32_t* ids;
  const void* position_table;
  const int32_t* positions;
  float scale;
  const float* weight;
  const float* bias;
  void* x;
  void* out;
  int32_t rows, dim;
  float eps;
  int32_t layer_norm;  // 0: RMS
  int32_t dtype;       // TriescopeCudaDType
};

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_embed_norm(const struct TriescopeEmbedNorm* call, void* stream);

#ifdef __cplusplus
}
#endif
