// Rows of a matrix of GGUF blocks, dequantised, on CUDA: the contract. For a tile that a product of
// many rows reads, and for embeddings. Plain C, raw device pointers and a stream; no torch.
//
//   out[i, k] = W[ids ? ids[i] : i, k]
//
//   blocks  W: rows of `inputs` values in blocks of `type`, without gaps
//   ids     [rows] rows of W; NULL = the first `rows`, in order
//   out     row i at out + i * out_stride (elements), [inputs]
// All pointers are of the device. Values have the bits of formats::dequantise, then rounded to the
// dtype.
//
// Preconditions
//   checked      rows and inputs at least 1, inputs a multiple of the type's block; blocks on a
//                multiple of 4 bytes (2 for Q4_0, Q5_0, Q8_0, Q3_K, Q6_K, IQ4_NL), out on one of 16
//                and out_stride a multiple of 4, no shorter than a row
//   not checked  ids lie within W
//
// Grid: ceil(rows * inputs / 8 / 128) blocks of 128 threads, eight values a thread.
#pragma once

#include "core/kernels/device.cuh"

#ifdef __cplusplus
extern "C" {
#endif

struct TriescopeBlockRows {
  const void* blocks;
  int32_t type;  // ggml's number: formats::GgmlType
  int32_t rows, inputs;
  int32_t dtype;  // TriescopeCudaDType, of out
  const int32_t* ids;
  void* out;
  int64_t out_stride;
};

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_block_rows(const struct TriescopeBlockRows* call, void* stream);

#ifdef __cplusplus
}
#endif
