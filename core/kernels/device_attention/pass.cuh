// What the two kernels of tree attention share: how a call is cut up, the list of a row, where
// results of partitions lie. For kernels' sources alone.
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
constexpr int kChains = 4;  // of partitions, and warps of a block that combines them

// How a head size and a dtype share the memory of a block. kDim 0: any head size up to kMaxHead.
template <class T, int kDim>
struct Tiles {
  static constexpr int kMost = kDim > 0 ? kDim : kMaxHead;
  static constexpr int kVector = kVectorOf<T>;
  // K is staged in chunks of its dimensions, 128 bytes of every slot of the partition. With a
  // vector more a slot, lanes that read a vector of one slot each meet in no bank.
  static constexpr int kChunk = 8 * kVector;
  static constexpr int kSlotStride = kChunk + kVector;
  // V is staged in runs of whole slots, 16 KB at most.
  static constexpr int kRowBytes = kMost * static_cast<int>(sizeof(T));
  static constexpr int kRun = kRowBytes <= 256 ? 64 : kRowBytes <= 512 ? 32 : 16;
  // Dimensions of V that a lane sums: pairs, 64 apart.
  static constexpr int kPairs = (kMost + 63) / 64;
  // A query is one head of one row. As many as a lane has registers to sum V for.
  static constexpr int kWarpQueries = kPairs <= 2 ? 8 : 4;
  static constexpr int kQueries = kWarps * kWarpQueries;  // of a block
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

// What two launches do: partitions first .. first + span of rows row0 .. row0 + rows.
struct Pass {
  int row0, rows;
  int first, span;
  int common;            // of them those that are the same slots for all rows, as many of the first
  int tiles, row_tiles;  // of kQueries queries: of all rows, of one row
  bool resumed, finished;    // partitions came before; none come after
  float *values, *summary;   // [rows, heads, span, head_dim]; [.., 2]: maximum, sum of exp
  float *chains, *chain_of;  // [rows, heads, kChains, head_dim]; [.., 2]: what came before
};

// Where a partition's values begin, in rows of head_dim values.
__device__ int64_t partial_index(const TriescopeTreeAttention& a, const Pass& pass, int row,
                                 int head, int partition) {
  return (static_cast<int64_t>(row - pass.row0) * a.heads + head) * pass.span + partition -
         pass.first;
}

}  // namespace
}  // namespace triescope::kernels::cuda::attention
