// Tree attention over lists of visible slots, on CUDA: the contract. Plain C, raw device pointers and a stream; no torch.
//
// Same equation, lists, window and softcap as core/kernels/tree_attention.h, its CPU twin.
//   q, out        [rows, heads, head_dim]   row r at q + r * q_stride (elements), 16-byte aligned rows
//   keys, values  [slots, kv_heads, head_dim], contiguous
//   prefix        [prefix_count] int32 slots seen by all rows first
//   own, offsets  int32; row r then sees own[offsets[r] .. offsets[r+1]). offsets == NULL = causal: row r then sees own[0 .. r]
//                 (own = the rows' own slots, [rows])
// All device pointers. q, K, V, out share one dtype; sums are fp32.
// head_dim: 64, 80, 96, 128 or 256. heads % kv_heads == 0. 1 <= rows. Every row sees at least one slot.
//
// Order ("path only"): a row's list is cut by index into partitions of kTreeAttentionPartition slots, each reduced by one
// block in a fixed order; the partitions are then combined in ascending order. Nothing depends on other rows, on where slots
// lie, or on where the list is cut into prefix and own part.
// Grid: (partitions of the longest list, kv_heads, rows), 128 threads; then the combination (heads, rows).
// Tolerance against the CPU twin: fp32 2e-5 of max |V| (exp within 2 ulp and another order of summation); fp16 1e-3 and
// bf16 8e-3 (the output's own rounding).
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum TriescopeCudaDType { kTriescopeF32 = 0, kTriescopeF16 = 1, kTriescopeBF16 = 2 };

struct TriescopeTreeAttention {
  const void* q;
  int64_t q_stride;  // elements
  const void* keys;
  const void* values;
  void* out;
  int64_t out_stride;  // elements
  const int32_t* prefix;
  const int32_t* own;
  const int32_t* offsets;
  int32_t prefix_count;
  int32_t longest;  // longest list of any row, prefix included (host knows it; sizes the grid)
  int32_t rows, heads, kv_heads, head_dim;
  int32_t window;  // 0 = none
  float scale, softcap;
  int32_t dtype;  // TriescopeCudaDType
  // Scratch on the device: triescope_cuda_tree_attention_scratch(...) bytes, 16-byte aligned.
  void* scratch;
  size_t scratch_bytes;
};

// Bytes of scratch a call needs (0 possible).
size_t triescope_cuda_tree_attention_scratch(int32_t rows, int32_t heads, int32_t head_dim, int32_t longest);

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int; 0 = launched. Wrong shapes: 1
// (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_tree_attention(const struct TriescopeTreeAttention* call, void* stream);

const char* triescope_cuda_error_string(int error);
// Devices a driver offers; 0 without a driver. Never fails.
int triescope_cuda_device_count(void);

#ifdef __cplusplus
}
#endif
