// The step between a layer's one product for q, k and v and its attention, on CUDA: RMS norm of
// every head's q and k, rotary positions, K and V into their slots. The contract; plain C, raw
// device pointers and a stream, no torch.
//
//   qkv           [rows, heads + 2 * kv_heads, head_dim], contiguous: a row's q, then k, then v; q
//                 is changed in place, k and v stay as they are
//   keys, values  [slots, kv_heads, head_dim], contiguous: row r's k and v go to slots[r]; slots
//                 of one call are distinct
//   query_norm, key_norm   [head_dim] fp32, or NULL: no norm. v = v / sqrt(mean v^2 + eps) * w
//   cos, sin      [rows, rope_dims / 2] fp32; rope_dims 0 = no rotary positions. For i < rope_dims
//                 / 2, j = i + rope_dims / 2: x'[i] = x[i] cos - x[j] sin, x'[j] = x[j] cos + x[i]
//                 sin; dimensions from rope_dims on stay (core/kernels/rope.h, with rms_norm_heads
//                 and store_kv the CPU twins)
// qkv, keys and values are of the dtype. Arithmetic is fp32, rounded to the dtype after the norm
// and after the rotation, as by the separate operations of the libtorch executor.
//
// Preconditions
//   checked       1 to 65,535 rows; heads, kv_heads, head_dim >= 1; rope_dims even, from 0 to
//                 head_dim; cos and sin where it is not 0; eps >= 0; qkv, keys, values, slots given
//   not checked   slots lie within the storage
//
// Order: a warp has a head; the sum of squares is a chain a lane (dimensions lane, lane + 32, ...),
// then lanes as a tree. Nothing depends on other rows or on slots. A NaN stays, and makes its head
// NaN where there is a norm.
//
// Grid: (ceil((heads + 2 * kv_heads) / 4), rows), 128 threads.
//
// Tolerance: without norms none, the same bits as libtorch's operations. With norms 2e-6 relative
// to the head's largest value in fp32 (another order of summation); in fp16 and bf16 one rounding
// more or less of the norm where a value lies between two.
#pragma once

#include "core/kernels/device.cuh"

#ifdef __cplusplus
extern "C" {
#endif

struct TriescopeSplitQkv {
  void* qkv;
  void* keys;
  void* values;
  const int32_t* slots;  // [rows]
  const float* query_norm;
  const float* key_norm;
  const float* cos;
  const float* sin;
  float eps;
  int32_t rows, heads, kv_heads, head_dim, rope_dims;
  int32_t dtype;  // TriescopeCudaDType
};

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_split_qkv(const struct TriescopeSplitQkv* call, void* stream);

#ifdef __cplusplus
}
#endif
