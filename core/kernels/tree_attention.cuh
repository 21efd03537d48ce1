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
//   checked       head_dim a multiple of 8, from 8 to 256 (64, 80, 96, 128 and 256 have kernels of
//                 their own, others share one and are slower); heads % kv_heads == 0; a prefix, and
//                 for a causal call the rows behind it, no longer than `longest`; alignment of q
//                 (rows too), K, V and scratch
//   not checked   every row sees at least one slot and none sees more than `longest`; slots lie
//                 within the storage
//
// Order ("path only"): a row's list is cut by index into partitions of 128 slots. In a partition a
// score is one chain over the head's dimensions; the sum of exponentials adds slots j, j + 32,
// j + 64, j + 96 and then these 32 sums as a tree; the sum of V is one chain over the slots.
// Partitions are then taken up one after the other, each time relative to the largest score so far,
// in four ascending chains (by index modulo 4), which are taken up in order. Nothing depends on
// other rows, on where slots lie, on where the list is cut into prefix and own part, on causal or
// listed, or on how much scratch there is.
//
// Partitions that lie before a row's window are not read. A NaN in a row's q, or in K or V that the
// row sees, makes its output NaN; one that it does not see changes nothing.
//
// Grid
//   partitions    (blocks, kv_heads), 256 threads, 36 KB of shared memory. A block brings K, then V
//                 of one partition and one key/value head to shared memory once, for up to 64
//                 queries (heads of the group times rows; 32 above 128 dimensions, and in the
//                 kernel of all other head sizes). The prefix's whole partitions, and all of a
//                 causal call, have a block for every 64 queries; other partitions one a row (every
//                 64 heads of its group).
//   combine       (heads, rows), 128 threads
//
// Scratch: a float for every row, head, partition and dimension, and two more, but never more than
// TRIESCOPE_ATTENTION_SCRATCH: where that is too little, or the call gives less, rows and then
// partitions go in several passes (two launches each), with four chains a row and head kept between
// them.
//
// Tolerance against the CPU twin on the same (rounded) inputs, of max |V|
//   fp32          2e-5 (exp within 2 ulp, another order of summation)
//   fp16          1e-3 (the output's own rounding)
//   bf16          8e-3 (the output's own rounding)
#pragma once

#include "core/kernels/device.cuh"

// Bytes of scratch that a call uses at most.
#define TRIESCOPE_ATTENTION_SCRATCH (64 << 20)

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
  size_t scratch_bytes;  // triescope_cuda_tree_attention_scratch(...); less: more passes
};

// Bytes of scratch with which a call takes as few passes as it may. The least it takes is room for
// one row: heads * (head_dim + 2) * 5 floats.
size_t triescope_cuda_tree_attention_scratch(int32_t rows, int32_t heads, int32_t head_dim,
                                             int32_t longest);

// Launches on `stream` (a cudaStream_t) of the current device. Returns a cudaError_t as int, 0 =
// launched; a violated precondition: 1 (cudaErrorInvalidValue), nothing launched.
int triescope_cuda_tree_attention(const struct TriescopeTreeAttention* call, void* stream);

#ifdef __cplusplus
}
#endif
