#include "core/kernels/tree_attention.cuh"

#include "core/kernels/element.cuh"
#include "core/kernels/launch.cuh"

namespace {

using triescope::kernels::cuda::Element;
using triescope::kernels::cuda::kVectorOf;
using triescope::kernels::cuda::load;

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kPartition = 128;  // slots of a partition: one thread scores one slot
constexpr int kQueries = 8;      // query heads of a block: rows of a tile times heads of a group
constexpr int kMaxHead = 256;

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

// Where a (row, head, partition) leaves its maximum, its sum of exponentials and its sum of V.
struct Partials {
  float* summary;  // [rows, heads, partitions, 2]
  float* values;   // [rows, heads, partitions, head_dim]
  int partitions;
};

__device__ int64_t partial_index(const TriescopeTreeAttention& a, const Partials& p, int row,
                                 int head, int partition) {
  return (static_cast<int64_t>(row) * a.heads + head) * p.partitions + partition;
}

struct Shared {
  float q[kQueries * kMaxHead];        // [query][head_dim]
  float weight[kQueries][kPartition];  // exp(score - maximum)
  float chains[kQueries * kMaxHead];   // [chain][query][head_dim], chains * head_dim <= 256
  float reduce[kQueries][kWarps];
  int32_t slots[kPartition];
};

// One partition of `count` slots (shared.slots) for `queries` query heads: query i is row row0 + i
// / heads, head head0 + i % heads. lowest: the first index within the partition that any of the
// rows sees; what comes before is not read. The arithmetic of a query is the same whatever others
// are there: that is what makes a shared prefix invisible.
template <class T>
__device__ __noinline__ void attend(const TriescopeTreeAttention& a, const Partials& partials,
                                    Shared& shared, int kv_head, int head0, int heads, int row0,
                                    int queries, int partition, int lowest, int count) {
  const int t = threadIdx.x, dim = a.head_dim;
  for (int i = t; i < queries * dim; i += kThreads) {
    const int query = i / dim, d = i % dim;
    const T* row = static_cast<const T*>(a.q) + (row0 + query / heads) * a.q_stride;
    shared.q[i] = Element<T>::widen(row[static_cast<int64_t>(head0 + query % heads) * dim + d]);
  }
  __syncthreads();

  // Scores: one chain over the dimensions.
  float score[kQueries];
  TRIESCOPE_UNROLL
  for (int i = 0; i < kQueries; ++i) score[i] = 0.0f;
  if (t >= lowest && t < count) {
    const T* k = static_cast<const T*>(a.keys) +
                 (static_cast<int64_t>(shared.slots[t]) * a.kv_heads + kv_head) * dim;
    for (int d = 0; d < dim; d += kVectorOf<T>) {
      float kd[kVectorOf<T>];
      load<T, kVectorOf<T>>(k + d, kd);
      TRIESCOPE_UNROLL
      for (int i = 0; i < kQueries; ++i) {
        if (i < queries) {
          TRIESCOPE_UNROLL
          for (int e = 0; e < kVectorOf<T>; ++e) {
            score[i] = __fmaf_rn(shared.q[i * dim + d + e], kd[e], score[i]);
          }
        }
      }
    }
  }
  TRIESCOPE_UNROLL
  for (int i = 0; i < kQueries; ++i) {
    if (i >= queries) continue;
    const int first = list_of(a, row0 + i / heads).start - partition * kPartition;
    float s = __fmul_rn(score[i], a.scale);
    if (a.softcap > 0) s = __fmul_rn(a.softcap, tanhf(__fdiv_rn(s, a.softcap)));
    score[i] = t < count && t >= first ? s : -INFINITY;
  }

  // Softmax within the partition. The maximum is exact in any order; the sum runs over lanes, then
  // warps.
  float largest[kQueries];
  TRIESCOPE_UNROLL
  for (int i = 0; i < kQueries; ++i) {
    float m = score[i];
    for (int lane = 16; lane > 0; lane /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, lane));
    if (i < queries && t % 32 == 0) shared.reduce[i][t / 32] = m;
  }
  __syncthreads();
  TRIESCOPE_UNROLL
  for (int i = 0; i < kQueries; ++i) {
    if (i >= queries) continue;
    float m = shared.reduce[i][0];
    for (int w = 1; w < kWarps; ++w) m = fmaxf(m, shared.reduce[i][w]);
    largest[i] = m;
  }
  __syncthreads();
  TRIESCOPE_UNROLL
  for (int i = 0; i < kQueries; ++i) {
    // A partition wholly before a row's window has no maximum: weights 0. A NaN stays one.
    const float e =
        i < queries && score[i] != -INFINITY ? expf(__fsub_rn(score[i], largest[i])) : 0.0f;
    if (i < queries) shared.weight[i][t] = e;
    float sum = e;
    for (int lane = 16; lane > 0; lane /= 2) {
      sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, lane));
    }
    if (i < queries && t % 32 == 0) shared.reduce[i][t / 32] = sum;
  }
  __syncthreads();
  if (t == 0) {
    for (int i = 0; i < queries; ++i) {
      float sum = shared.reduce[i][0];
      for (int w = 1; w < kWarps; ++w) sum = __fadd_rn(sum, shared.reduce[i][w]);
      float* summary = partials.summary + 2 * partial_index(a, partials, row0 + i / heads,
                                                            head0 + i % heads, partition);
      summary[0] = largest[i];
      summary[1] = sum;
    }
  }

  // Sum of V: a thread has two dimensions and every chains-th slot.
  const int pairs = dim / 2, chains = kThreads / pairs, chain = t / pairs, d = t % pairs * 2;
  if (chain < chains) {
    float2 sum[kQueries];
    TRIESCOPE_UNROLL
    for (int i = 0; i < kQueries; ++i) sum[i] = make_float2(0.0f, 0.0f);
    const T* v = static_cast<const T*>(a.values) + static_cast<int64_t>(kv_head) * dim + d;
    const int64_t slot_stride = static_cast<int64_t>(a.kv_heads) * dim;
    TRIESCOPE_UNROLL_4
    for (int j = chain + (lowest - chain + chains - 1) / chains * chains; j < count; j += chains) {
      float vd[2];
      load<T, 2>(v + shared.slots[j] * slot_stride, vd);
      TRIESCOPE_UNROLL
      for (int i = 0; i < kQueries; ++i) {
        if (i < queries) {
          const float w = shared.weight[i][j];
          sum[i].x = __fmaf_rn(w, vd[0], sum[i].x);
          sum[i].y = __fmaf_rn(w, vd[1], sum[i].y);
        }
      }
    }
    TRIESCOPE_UNROLL
    for (int i = 0; i < kQueries; ++i) {
      if (i < queries) {
        float* to = shared.chains + (chain * kQueries + i) * dim + d;
        to[0] = sum[i].x;
        to[1] = sum[i].y;
      }
    }
  }
  __syncthreads();
  for (int i = t; i < queries * dim; i += kThreads) {
    const int query = i / dim, e = i % dim;
    float sum = shared.chains[query * dim + e];
    for (int c = 1; c < chains; ++c)
      sum = __fadd_rn(sum, shared.chains[(c * kQueries + query) * dim + e]);
    partials
        .values[partial_index(a, partials, row0 + query / heads, head0 + query % heads, partition) *
                    dim +
                e] = sum;
  }
  __syncthreads();  // shared memory is written again for the next row
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_partitions(TRIESCOPE_CALL TriescopeTreeAttention a, TRIESCOPE_CALL Partials partials,
                         int tile_rows, int head_chunks) {
  __shared__ Shared shared;
  const int partition = blockIdx.x, base = partition * kPartition;
  const int kv_head = blockIdx.y / head_chunks, group = a.heads / a.kv_heads;
  const int chunk = blockIdx.y % head_chunks * kQueries;
  const int heads = min(group - chunk, kQueries), head0 = kv_head * group + chunk;
  const int row0 = blockIdx.z * tile_rows, row_end = min(row0 + tile_rows, a.rows);
  const int t = threadIdx.x;

  if (base + kPartition <= a.prefix_count) {  // the same slots for every row of the tile
    int start = list_of(a, row0).start;
    for (int row = row0 + 1; row < row_end; ++row) start = min(start, list_of(a, row).start);
    if (base + kPartition <= start) return;  // before every row's window
    shared.slots[t] = a.prefix[base + t];
    __syncthreads();
    attend<T>(a, partials, shared, kv_head, head0, heads, row0, (row_end - row0) * heads, partition,
              max(start - base, 0), kPartition);
    return;
  }
  for (int row = row0; row < row_end; ++row) {
    const List list = list_of(a, row);
    const int count = min(list.count - base, kPartition);
    // The same for all threads.
    if (count <= 0 || base + kPartition <= list.start) continue;
    if (t < count) {
      const int j = base + t;
      shared.slots[t] = j < a.prefix_count ? a.prefix[j] : list.own[j - a.prefix_count];
    }
    __syncthreads();
    attend<T>(a, partials, shared, kv_head, head0, heads, row, heads, partition,
              max(list.start - base, 0), count);
  }
}

// out = sum over partitions of exp(m_p - m) * values_p / sum of exp(m_p - m) * sum_p. A warp takes
// every kWarps-th partition that the row sees, ascending; the warps' sums are added in order.
template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_combine(TRIESCOPE_CALL TriescopeTreeAttention a, TRIESCOPE_CALL Partials partials) {
  __shared__ float maxima[kWarps], totals[kWarps], sums[kWarps][kMaxHead];
  const int head = blockIdx.x, row = blockIdx.y;
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const List list = list_of(a, row);
  const int first = list.start / kPartition, end = (list.count + kPartition - 1) / kPartition;
  const int64_t at = partial_index(a, partials, row, head, 0);
  const float* summary = partials.summary + 2 * at;
  const float* values = partials.values + at * a.head_dim;

  // The maximum is exact in any order.
  float largest = -INFINITY;
  for (int p = first + t; p < end; p += kThreads) largest = fmaxf(largest, summary[2 * p]);
  for (int step = 16; step > 0; step /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
  if (lane == 0) maxima[warp] = largest;
  __syncthreads();
  largest = maxima[0];
  for (int w = 1; w < kWarps; ++w) largest = fmaxf(largest, maxima[w]);

  float total = 0.0f, sum[kMaxHead / 32];
  TRIESCOPE_UNROLL
  for (int i = 0; i < kMaxHead / 32; ++i) sum[i] = 0.0f;
  for (int p = first + warp; p < end; p += kWarps) {
    const float e = expf(__fsub_rn(summary[2 * p], largest));
    total = __fmaf_rn(e, summary[2 * p + 1], total);
    const float* of = values + static_cast<int64_t>(p) * a.head_dim;
    TRIESCOPE_UNROLL
    for (int i = 0; i < kMaxHead / 32; ++i) {
      const int d = lane + 32 * i;
      if (d < a.head_dim) sum[i] = __fmaf_rn(e, of[d], sum[i]);
    }
  }
  if (lane == 0) totals[warp] = total;
  TRIESCOPE_UNROLL
  for (int i = 0; i < kMaxHead / 32; ++i) sums[warp][lane + 32 * i] = sum[i];
  __syncthreads();

  total = totals[0];
  for (int w = 1; w < kWarps; ++w) total = __fadd_rn(total, totals[w]);
  T* out = static_cast<T*>(a.out) + row * a.out_stride + static_cast<int64_t>(head) * a.head_dim;
  for (int d = t; d < a.head_dim; d += kThreads) {
    float value = sums[0][d];
    for (int w = 1; w < kWarps; ++w) value = __fadd_rn(value, sums[w][d]);
    out[d] = Element<T>::narrow(__fdiv_rn(value, total));
  }
}

int partitions_of(int32_t longest) { return (longest + kPartition - 1) / kPartition; }

template <class T>
cudaError_t launch(const TriescopeTreeAttention& a, const Partials& partials, cudaStream_t stream) {
  const int group = a.heads / a.kv_heads, head_chunks = (group + kQueries - 1) / kQueries;
  const int tile_rows = group > kQueries ? 1 : kQueries / group;
  const dim3 grid(static_cast<unsigned>(partials.partitions),
                  static_cast<unsigned>(a.kv_heads * head_chunks),
                  static_cast<unsigned>((a.rows + tile_rows - 1) / tile_rows));
  TRIESCOPE_LAUNCH(attention_partitions<T>, grid, kThreads, stream, a, partials, tile_rows,
                   head_chunks);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  const dim3 outputs(static_cast<unsigned>(a.heads), static_cast<unsigned>(a.rows));
  TRIESCOPE_LAUNCH(attention_combine<T>, outputs, kThreads, stream, a, partials);
  return cudaGetLastError();
}

}  // namespace

extern "C" size_t triescope_cuda_tree_attention_scratch(int32_t rows, int32_t heads,
                                                        int32_t head_dim, int32_t longest) {
  return sizeof(float) * static_cast<size_t>(rows) * static_cast<size_t>(heads) *
         static_cast<size_t>(partitions_of(longest)) * static_cast<size_t>(head_dim + 2);
}

extern "C" int triescope_cuda_tree_attention(const TriescopeTreeAttention* call, void* stream) {
  const TriescopeTreeAttention& a = *call;
  const bool shape = a.rows >= 1 && a.rows <= 65535 && a.heads >= 1 && a.kv_heads >= 1 &&
                     a.heads % a.kv_heads == 0 && a.head_dim >= 8 && a.head_dim <= kMaxHead &&
                     a.head_dim % 8 == 0 && a.longest >= 1 && a.prefix_count >= 0 &&
                     a.prefix_count <= a.longest && a.window >= 0;
  if (!shape || a.scratch_bytes <
                    triescope_cuda_tree_attention_scratch(a.rows, a.heads, a.head_dim, a.longest)) {
    return cudaErrorInvalidValue;
  }
  Partials partials;
  partials.partitions = partitions_of(a.longest);
  partials.values = static_cast<float*>(a.scratch);
  partials.summary =
      partials.values + static_cast<int64_t>(a.rows) * a.heads * partials.partitions * a.head_dim;
  switch (a.dtype) {
    case kTriescopeF32:
      return launch<float>(a, partials, static_cast<cudaStream_t>(stream));
    case kTriescopeF16:
      return launch<__half>(a, partials, static_cast<cudaStream_t>(stream));
    case kTriescopeBF16:
      return launch<__nv_bfloat16>(a, partials, static_cast<cudaStream_t>(stream));
    default:
      return cudaErrorInvalidValue;
  }
}
