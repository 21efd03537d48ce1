// Tree attention over lists of visible slots, on CUDA: the contract. Plain C, raw device pointers
// and a stream; no torch.
//
// Same equation, lists, window and softcap as core/kernels/tree_attention.h, its CPU twin.
//   q, out        [rows, heads, head_dim], row r at q + r * q_stride (elements)
//   keys, values  [slots, kv_heads, head_dim], contiguous
//   prefix        [prefix_count] slots that all rows see first
//   own, offsets  row r then sees own[offsets[r] .. offsets[r + 1]);
//                 offsets == NULL = causal: row r then sees own[0 .. r] (own = the rows' own slots,
//                 [rows])
// All pointers are of the device; q, K, V and out 16-byte aligned (rows too) and of one dtype; sums
// are fp32.
//
// Preconditions
//   checked       head_dim a multiple of 8, from 8 to 256 (fast: 64, 80, 96, 128, 256);
//                 heads % kv_heads == 0; a prefix no longer than `longest`
//   not checked   every row sees at least one slot and none sees more than `longest`; slots lie
//                 within the storage
//
// Order ("path only"): a row's list is cut by index into partitions of 128 slots. In a partition a
// score is one chain over the head's dimensions; the sum of V runs over the slots in interleaved
// chains (by index modulo 256 / head_dim), added in order. Partitions are then combined in four
// ascending chains (every fourth that the row sees), added in order. Nothing depends on other rows, on where
// slots lie, or on where the list is cut into prefix and own part.
//
// Partitions that lie before a row's window are not read. A NaN in a row's q, or in K or V that the
// row sees, makes its output NaN.
//
// Grid
//   partitions    (partitions of the longest list, kv_heads * ceil(group / 8), rows / rows of a
//                 tile), 128 threads; a tile is as many rows as fit 8 query heads, and reads the
//                 prefix once
//   combine       (heads, rows), 128 threads
//
// Tolerance against the CPU twin on the same (rounded) inputs, of max |V|
//   fp32          2e-5 (exp within 2 ulp, another order of summation)
//   fp16          1e-3 (the output's own rounding)
//   bf16          8e-3 (the output's own rounding)
//
// For decoding: scratch grows with rows * longest, so give a prefill in chunks of about 64 rows.
#pragma once

#include "core/kernels/device.cuh"

#ifdef __cplusplus
extern "C" {
#endif

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
  int32_t longest;  // slots in the longest list of any row, prefix included
  int32_t rows, heads, kv_heads, head_dim;
  int32_t window;  // 0 = none
  float scale, softcap;
  int32_t dtype;         // TriescopeCudaDType
  void* scratch;         // on the device, 16-byte aligned
  size_t scratch_bytes;  // at least triescope_cuda_tree_attention_scratch(...)
};

// Bytes of scratch a call needs.
size_t triescope_cuda_tree_attention_scratch(int32_t rows, int32_t heads, int32_t head_dim,
                                             int32_t longest);

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_tree_attention(const struct TriescopeTreeAttention* call, void* stream);

#ifdef __cplusplus
}
#endif
