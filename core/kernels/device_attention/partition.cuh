// The first kernel of tree attention: one partition of 128 slots for up to 64 queries. Only for
// kernels' sources.
#pragma once

#include "core/kernels/device_attention/pass.cuh"
#include "core/kernels/sums.cuh"

namespace triescope::kernels::cuda::attention {
namespace {

// The work of a block: one partition for up to kQueries queries.
struct Work {
  int partition, kv_head, group;
  int first, queries;      // query i is head (first + i) % group of row (first + i) / group
  int lowest, highest;     // slots that some query sees
  int all_first, all_end;  // slots that every query sees
};

template <class T, int kDim>
struct alignas(16) Shared {
  using Tile = Tiles<T, kDim>;
  union {
    T keys[kPartition * Tile::kSlotStride];
    T values[Tile::kRun * Tile::kMost];
  };
  union {
    float q[Tile::kQueries * Tile::kChunk];      // [query][dimension of the chunk]
    float weights[Tile::kQueries * Tile::kRun];  // [warp][its query][slot of the run]
  };
  int64_t q_at[Tile::kQueries];                    // elements from a.q
  int first[Tile::kQueries], end[Tile::kQueries];  // slots of the partition that a query sees
  int32_t slots[kPartition];
};

// Values that a thread copies from global to shared memory. They are loaded before the block
// computes with those staged before, and stored afterwards.
template <class T>
struct Ahead {
  Values<T, kVectorOf<T>> stage[4], q[2];
};

// The vector of 16 bytes that begins at this address.
template <class T>
__device__ Values<T, kVectorOf<T>>& vector_at(T* p) {
  return *reinterpret_cast<Values<T, kVectorOf<T>>*>(p);
}
template <class T>
__device__ const Values<T, kVectorOf<T>>& vector_at(const T* p) {
  return *reinterpret_cast<const Values<T, kVectorOf<T>>*>(p);
}

// Number of dimensions in the chunk of K that begins at `from`.
template <class T, int kDim>
__device__ int chunk_width(int dim, int from) {
  constexpr int kChunk = Tiles<T, kDim>::kChunk;
  return kDim > 0 && kDim % kChunk == 0 ? kChunk : min(kChunk, dim - from);
}

template <class T, int kDim>
__device__ void fetch_keys(const TriescopeTreeAttention& a, const Shared<T, kDim>& shared,
                           const Work& work, int from, Ahead<T>& ahead) {
  using Tile = Tiles<T, kDim>;
  const int dim = head_dim_of<T, kDim>(a), t = threadIdx.x;
  const int vectors = chunk_width<T, kDim>(dim, from) / Tile::kVector;
  const T* keys = static_cast<const T*>(a.keys) + static_cast<int64_t>(work.kv_head) * dim + from;
  const int64_t stride = static_cast<int64_t>(a.kv_heads) * dim;
  TRIESCOPE_UNROLL
  for (int k = 0; k < 4; ++k) {
    const int slot = (t + k * kThreads) / vectors, part = (t + k * kThreads) % vectors;
    if (slot >= work.lowest && slot < work.highest)
      ahead.stage[k] = vector_at(keys + shared.slots[slot] * stride + part * Tile::kVector);
  }
  TRIESCOPE_UNROLL
  for (int k = 0; k < 2; ++k) {
    const int query = (t + k * kThreads) / vectors, part = (t + k * kThreads) % vectors;
    if (query < work.queries)
      ahead.q[k] =
          vector_at(static_cast<const T*>(a.q) + shared.q_at[query] + from + part * Tile::kVector);
  }
}

template <class T, int kDim>
__device__ void put_keys(Shared<T, kDim>& shared, const Work& work, int width,
                         const Ahead<T>& ahead) {
  using Tile = Tiles<T, kDim>;
  const int vectors = width / Tile::kVector, t = threadIdx.x;
  TRIESCOPE_UNROLL
  for (int k = 0; k < 4; ++k) {
    const int slot = (t + k * kThreads) / vectors, part = (t + k * kThreads) % vectors;
    if (slot >= work.lowest && slot < work.highest)
      vector_at(shared.keys + slot * Tile::kSlotStride + part * Tile::kVector) = ahead.stage[k];
  }
  TRIESCOPE_UNROLL
  for (int k = 0; k < 2; ++k) {
    const int query = (t + k * kThreads) / vectors, part = (t + k * kThreads) % vectors;
    if (query >= work.queries) continue;
    float q[Tile::kVector];
    TRIESCOPE_UNROLL
    for (int e = 0; e < Tile::kVector; ++e) q[e] = Element<T>::widen(ahead.q[k].of[e]);
    TRIESCOPE_UNROLL
    for (int e = 0; e < Tile::kVector; e += 4)
      store<float, 4>(shared.q + query * Tile::kChunk + part * Tile::kVector + e, q + e);
  }
}

template <class T, int kDim>
__device__ void fetch_values(const TriescopeTreeAttention& a, const Shared<T, kDim>& shared,
                             const Work& work, int run, Ahead<T>& ahead) {
  using Tile = Tiles<T, kDim>;
  const int dim = head_dim_of<T, kDim>(a), vectors = dim / Tile::kVector;
  const T* values = static_cast<const T*>(a.values) + static_cast<int64_t>(work.kv_head) * dim;
  const int64_t stride = static_cast<int64_t>(a.kv_heads) * dim;
  TRIESCOPE_UNROLL
  for (int k = 0; k < 4; ++k) {
    const int at = threadIdx.x + k * kThreads, slot = run + at / vectors;
    if (at < Tile::kRun * vectors && slot >= work.lowest && slot < work.highest)
      ahead.stage[k] =
          vector_at(values + shared.slots[slot] * stride + at % vectors * Tile::kVector);
  }
}

template <class T, int kDim>
__device__ void put_values(const TriescopeTreeAttention& a, Shared<T, kDim>& shared,
                           const Work& work, int run, const Ahead<T>& ahead) {
  using Tile = Tiles<T, kDim>;
  const int vectors = head_dim_of<T, kDim>(a) / Tile::kVector;
  TRIESCOPE_UNROLL
  for (int k = 0; k < 4; ++k) {
    const int at = threadIdx.x + k * kThreads, slot = run + at / vectors;
    if (at < Tile::kRun * vectors && slot >= work.lowest && slot < work.highest)
      vector_at(shared.values + at * Tile::kVector) = ahead.stage[k];
  }
}

// score[i][r] += q . k over a chunk's dimensions, ascending, for query i of this warp and slot lane
// + 32 r. Slots that were not staged are scored too, and their scores are never used.
template <class T, int kDim>
__device__ void add_scores(const Shared<T, kDim>& shared, int width, int rounds,
                           float (&score)[Tiles<T, kDim>::kWarpQueries][kLaneSlots]) {
  using Tile = Tiles<T, kDim>;
  constexpr int kHalf = 4;  // dimensions at once
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int d = 0; d < width; d += Tile::kVector) {
    Values<T, Tile::kVector> k[kLaneSlots];
    TRIESCOPE_UNROLL
    for (int r = 0; r < kLaneSlots; ++r)
      k[r] = vector_at(shared.keys + (lane + 32 * r) * Tile::kSlotStride + d);
    TRIESCOPE_UNROLL
    for (int half = 0; half < Tile::kVector; half += kHalf) {
      float kd[kLaneSlots][kHalf];
      TRIESCOPE_UNROLL
      for (int r = 0; r < kLaneSlots; ++r) {
        TRIESCOPE_UNROLL
        for (int e = 0; e < kHalf; ++e) kd[r][e] = Element<T>::widen(k[r].of[half + e]);
      }
      TRIESCOPE_UNROLL
      for (int i = 0; i < Tile::kWarpQueries; ++i) {
        if (i >= rounds) continue;
        float q[kHalf];
        load<float, kHalf>(shared.q + (i * kWarps + warp) * Tile::kChunk + d + half, q);
        TRIESCOPE_UNROLL
        for (int r = 0; r < kLaneSlots; ++r) {
          TRIESCOPE_UNROLL
          for (int e = 0; e < kHalf; ++e) score[i][r] = __fmaf_rn(q[e], kd[r][e], score[i][r]);
        }
      }
    }
  }
}

// sum[i] += weight * V over a run's slots, ascending. kAll: every query sees all of them. Otherwise
// a slot that a query does not see is skipped, whatever V contains there.
template <class T, int kDim, bool kAll>
__device__ void add_values(const Shared<T, kDim>& shared, const Work& work, int dim, int rounds,
                           int run,
                           float2 (&sum)[Tiles<T, kDim>::kWarpQueries][Tiles<T, kDim>::kPairs]) {
  using Tile = Tiles<T, kDim>;
  constexpr int kStep = 4;  // slots at once
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin = max(work.lowest - run, 0) / kStep * kStep;
  const int end = min(work.highest - run, Tile::kRun);
  for (int j = begin; j < end; j += kStep) {
    float v[kStep][Tile::kPairs][2];
    TRIESCOPE_UNROLL
    for (int e = 0; e < kStep; ++e) {
      TRIESCOPE_UNROLL
      for (int p = 0; p < Tile::kPairs; ++p) {
        const int d = 2 * lane + 64 * p;
        v[e][p][0] = v[e][p][1] = 0.0f;
        if (d < dim) load<T, 2>(shared.values + (j + e) * dim + d, v[e][p]);
      }
    }
    TRIESCOPE_UNROLL
    for (int i = 0; i < Tile::kWarpQueries; ++i) {
      if (i >= rounds) continue;
      float w[kStep];
      load<float, kStep>(shared.weights + (warp * Tile::kWarpQueries + i) * Tile::kRun + j, w);
      const int query = i * kWarps + warp;
      const int first = kAll ? 0 : shared.first[query] - run - j;
      const int last = kAll ? kStep : shared.end[query] - run - j;
      TRIESCOPE_UNROLL
      for (int e = 0; e < kStep; ++e) {
        if (!kAll && (e < first || e >= last)) continue;
        TRIESCOPE_UNROLL
        for (int p = 0; p < Tile::kPairs; ++p) {
          sum[i][p].x = __fmaf_rn(w[e], v[e][p][0], sum[i][p].x);
          sum[i][p].y = __fmaf_rn(w[e], v[e][p][1], sum[i][p].y);
        }
      }
    }
  }
}

__device__ int64_t partial_index(const TriescopeTreeAttention& a, const Pass& pass,
                                 const Work& work, int query) {
  const int row = (work.first + query) / work.group, head = (work.first + query) % work.group;
  return partial_index(a, pass, row, work.kv_head * work.group + head, work.partition);
}

__device__ float warp_max(float v) {
  for (int lane = 16; lane > 0; lane /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, lane));
  return v;
}

// Determines this block's partition and queries.
template <int kQueries>
__device__ Work work_of(const TriescopeTreeAttention& a, const Pass& pass) {
  Work work;
  work.kv_head = blockIdx.y;
  work.group = a.heads / a.kv_heads;
  int at = blockIdx.x;
  if (at < pass.common * pass.tiles) {  // for all rows; the tiles of one partition are neighbours
    work.partition = pass.first + at / pass.tiles;
    const int begin = at % pass.tiles * kQueries;
    work.first = pass.row0 * work.group + begin;
    work.queries = min(kQueries, pass.rows * work.group - begin);
    return work;
  }
  at -= pass.common * pass.tiles;
  const int row = at / pass.row_tiles % pass.rows, begin = at % pass.row_tiles * kQueries;
  work.partition = pass.first + pass.common + at / pass.row_tiles / pass.rows;
  work.first = (pass.row0 + row) * work.group + begin;
  work.queries = min(kQueries, work.group - begin);
  return work;
}

// Computes one partition for up to kQueries queries, which read its K and V once. A query's
// arithmetic does not depend on the other queries, so sharing a prefix cannot be seen in the
// result.
template <class T, int kDim>
__global__ void __launch_bounds__(kThreads, 2)
    attend_partition(TRIESCOPE_CALL TriescopeTreeAttention a, TRIESCOPE_CALL Pass pass) {
  using Tile = Tiles<T, kDim>;
  using Memory = Shared<T, kDim>;
  TRIESCOPE_SHARED(Memory, shared);
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, dim = head_dim_of<T, kDim>(a);
  Work work = work_of<Tile::kQueries>(a, pass);
  const int base = work.partition * kPartition;
  const int rounds = (work.queries + kWarps - 1) / kWarps;  // warp w has queries i * kWarps + w

  // The slots that each query sees.
  const int32_t* own = list_of(a, work.first / work.group).own;  // causal: the same for all rows
  if (t < Tile::kQueries) {
    int first = 0, end = 0;
    if (t < work.queries) {
      const int row = (work.first + t) / work.group, head = (work.first + t) % work.group;
      const List list = list_of(a, row);
      first = max(list.start - base, 0);
      end = min(list.count - base, kPartition);
      if (end <= first) first = end = 0;
      shared.q_at[t] =
          row * a.q_stride + (static_cast<int64_t>(work.kv_head) * work.group + head) * dim;
    }
    shared.first[t] = first;
    shared.end[t] = end;
  }
  __syncthreads();
  float least_first = kPartition, most_first = 0, least_end = kPartition, most_end = 0;
  for (int query = lane; query < work.queries; query += 32) {
    const float first = static_cast<float>(shared.first[query]);
    const float end = static_cast<float>(shared.end[query]);
    if (end > 0) least_first = fminf(least_first, first);
    most_first = fmaxf(most_first, first);
    least_end = fminf(least_end, end);
    most_end = fmaxf(most_end, end);
  }
  work.lowest = static_cast<int>(-warp_max(-least_first));
  work.highest = static_cast<int>(warp_max(most_end));
  work.all_first = static_cast<int>(warp_max(most_first));
  work.all_end = static_cast<int>(-warp_max(-least_end));
  if (work.highest <= work.lowest) return;  // it is behind every list, or before every window
  if (t >= work.lowest && t < work.highest) {
    const int j = base + t;
    shared.slots[t] = j < a.prefix_count ? a.prefix[j] : own[j - a.prefix_count];
  }
  __syncthreads();

  // Scores: one chain over the dimensions.
  Ahead<T> ahead;
  float score[Tile::kWarpQueries][kLaneSlots] = {};
  const int first_run = work.lowest / Tile::kRun * Tile::kRun;
  fetch_keys<T, kDim>(a, shared, work, 0, ahead);
  for (int from = 0; from < dim; from += Tile::kChunk) {
    const int width = chunk_width<T, kDim>(dim, from), next = from + Tile::kChunk;
    put_keys<T, kDim>(shared, work, width, ahead);
    __syncthreads();
    if (next < dim) {
      fetch_keys<T, kDim>(a, shared, work, next, ahead);
    } else {
      fetch_values<T, kDim>(a, shared, work, first_run, ahead);
    }
    if (warp < work.queries) add_scores<T, kDim>(shared, width, rounds, score);
    __syncthreads();
  }

  // Softmax within the partition, one warp for each query. The maximum is exact in any order; the
  // sum runs over a lane's slots, then over lanes.
  TRIESCOPE_UNROLL
  for (int i = 0; i < Tile::kWarpQueries; ++i) {
    if (i >= rounds) continue;
    const int query = i * kWarps + warp, first = shared.first[query], end = shared.end[query];
    float largest = -INFINITY;
    TRIESCOPE_UNROLL
    for (int r = 0; r < kLaneSlots; ++r) {
      const int slot = lane + 32 * r;
      float s = __fmul_rn(score[i][r], a.scale);
      if (a.softcap > 0) s = __fmul_rn(a.softcap, tanhf(__fdiv_rn(s, a.softcap)));
      score[i][r] = slot >= first && slot < end ? s : -INFINITY;
      largest = fmaxf(largest, score[i][r]);
    }
    largest = warp_max(largest);
    float sum = 0.0f;
    TRIESCOPE_UNROLL
    for (int r = 0; r < kLaneSlots; ++r) {
      // A NaN stays one.
      score[i][r] = score[i][r] != -INFINITY ? expf(__fsub_rn(score[i][r], largest)) : 0.0f;
      sum = __fadd_rn(sum, score[i][r]);
    }
    sum = warp_sum(sum);
    if (lane == 0 && end > first) {
      float* summary = pass.summary + 2 * partial_index(a, pass, work, query);
      summary[0] = largest;
      summary[1] = sum;
    }
  }

  // Sum of V: one chain over the slots.
  float2 sum[Tile::kWarpQueries][Tile::kPairs] = {};
  for (int run = first_run; run < work.highest; run += Tile::kRun) {
    put_values<T, kDim>(a, shared, work, run, ahead);
    TRIESCOPE_UNROLL
    for (int i = 0; i < Tile::kWarpQueries; ++i) {
      TRIESCOPE_UNROLL
      for (int r = 0; r < kLaneSlots; ++r) {
        const int slot = lane + 32 * r - run;
        if (i < rounds && slot >= 0 && slot < Tile::kRun)
          shared.weights[(warp * Tile::kWarpQueries + i) * Tile::kRun + slot] = score[i][r];
      }
    }
    __syncthreads();
    // there is none behind the last
    fetch_values<T, kDim>(a, shared, work, run + Tile::kRun, ahead);
    if (warp < work.queries) {
      const bool whole = work.all_first <= run && work.all_end >= run + Tile::kRun;
      whole ? add_values<T, kDim, true>(shared, work, dim, rounds, run, sum)
            : add_values<T, kDim, false>(shared, work, dim, rounds, run, sum);
    }
    __syncthreads();
  }
  TRIESCOPE_UNROLL
  for (int i = 0; i < Tile::kWarpQueries; ++i) {
    const int query = i * kWarps + warp;
    if (i >= rounds || shared.end[query] <= shared.first[query]) continue;
    float* to = pass.values + partial_index(a, pass, work, query) * dim;
    TRIESCOPE_UNROLL
    for (int p = 0; p < Tile::kPairs; ++p) {
      const int d = 2 * lane + 64 * p;
      const float pair[2] = {sum[i][p].x, sum[i][p].y};
      if (d < dim) store<float, 2>(to + d, pair);
    }
  }
}

}  // namespace
}  // namespace triescope::kernels::cuda::attention
