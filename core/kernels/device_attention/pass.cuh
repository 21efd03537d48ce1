// Shared by the two kernels of tree attention: how a call is divided, a row's list, and where the
// partitions' results are stored. Only for kernels' sources.
#pragma once

#include "core/kernels/element.cuh"
#include "core/kernels/launch.cuh"
#include "core/kernels/tree_attention.cuh"

namespace triescope::kernels::cuda::attention {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kPartition = 128;              // slots
constexpr int kLaneSlots = kPartition / 32;  // a lane scores slots lane, lane + 32, ...
constexpr int kMaxHead = 256;
constexpr int kChains = 4;  // chains of partitions, and warps of a block that combines them

// How a head size and a dtype divide a block's memory. kDim 0: any head size up to kMaxHead.
template <class T, int kDim>
struct Tiles {
  static constexpr int kMost = kDim > 0 ? kDim : kMaxHead;
  static constexpr int kVector = kVectorOf<T>;
  // K is staged in chunks of its dimensions, 128 bytes of every slot of the partition. One extra
  // vector for each slot prevents bank conflicts between lanes that each read a vector of one slot.
  static constexpr int kChunk = 8 * kVector;
  static constexpr int kSlotStride = kChunk + kVector;
  // V is staged in runs of whole slots, at most 16 KB.
  static constexpr int kRowBytes = kMost * static_cast<int>(sizeof(T));
  static constexpr int kRun = kRowBytes <= 256 ? 64 : kRowBytes <= 512 ? 32 : 16;
  // Dimensions of V that a lane sums: pairs, 64 apart.
  static constexpr int kPairs = (kMost + 63) / 64;
  // A query is one head of one row. Their number is limited by the registers in which a lane sums
  // V.
  static constexpr int kWarpQueries = kPairs <= 2 ? 8 : 4;
  static constexpr int kQueries = kWarps * kWarpQueries;  // queries of a block
  static_assert(kRun * kRowBytes <= 16384 && kVector % 4 == 0);
};

template <class T, int kDim>
__device__ int head_dim_of(const TriescopeTreeAttention& a) {
  return kDim > 0 ? kDim : a.head_dim;
}

// The list of one row.
struct List {
  int count;  // slots
  int start;  // first visible index (window)
  const int32_t* own;
};

__device__ List list_of(const TriescopeTreeAttention& a, int row) {
  List list;
  if (a.offsets == nullptr) {
    list.own = a.own;
    list.count = a.prefix_count + row + 1;
  } else {
    list.own = a.own + a.offsets[row];
    list.count = a.prefix_count + a.offsets[row + 1] - a.offsets[row];
  }
  list.start = a.window > 0 && list.count > a.window ? list.count - a.window : 0;
  return list;
}

// The work of two launches: partitions first .. first + span of rows row0 .. row0 + rows.
struct Pass {
  int row0, rows;
  int first, span;
  int common;               // how many of them, from the first on, have the same slots for all rows
  int tiles, row_tiles;     // tiles of kQueries queries: over all rows, over one row
  bool resumed, finished;   // earlier passes had partitions; no later pass has
  float *values, *summary;  // [rows, heads, span, head_dim]; [.., 2]: maximum, sum of exponentials
  float *chains, *chain_of;  // [rows, heads, kChains, head_dim]; [.., 2]: results of earlier passes
};

// Where a partition's values begin, in rows of head_dim values.
__device__ int64_t partial_index(const TriescopeTreeAttention& a, const Pass& pass, int row,
                                 int head, int partition) {
  return (static_cast<int64_t>(row - pass.row0) * a.heads + head) * pass.span + partition -
         pass.first;
}

}  // namespace
}  // namespace triescope::kernels::cuda::attention
