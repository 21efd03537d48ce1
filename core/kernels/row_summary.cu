#include "core/kernels/row_summary.cuh"

#include "core/kernels/element.cuh"
#include "core/kernels/launch.cuh"
#include "core/kernels/sums.cuh"

namespace triescope::kernels::cuda {
namespace {

constexpr int kSummaryThreads = 256;
constexpr int kSummaryWarps = kSummaryThreads / 32;
constexpr int kSummaryEach = 16;  // values a thread, in registers
constexpr int kSummaryPart = kSummaryThreads * kSummaryEach;
// One block merges the entries of all parts.
static_assert(kTriescopeRowSummaryTokens / kSummaryPart * kTriescopeRowSummaryBest <= kSummaryPart);
static_assert(kTriescopeRowSummaryTokens / kSummaryPart <= kSummaryThreads);

struct alignas(8) SummaryEntry {
  float value;
  int32_t token;
};
// Sorts after every entry of a row: it stands for an entry that does not exist or was taken.
__device__ SummaryEntry summary_none() { return {-INFINITY, INT32_MAX}; }

struct alignas(8) SummaryPart {
  float largest, sum;  // of exponentials, relative to summary_reference(largest)
};

struct SummaryScratch {
  SummaryPart* parts;     // [rows, parts]
  SummaryEntry* entries;  // [rows, parts, k]
};

constexpr int summary_parts(int32_t count) { return (count + kSummaryPart - 1) / kSummaryPart; }

// Never true for a NaN, which must not reach this function.
__device__ bool summary_before(const SummaryEntry& a, const SummaryEntry& b) {
  return a.value > b.value || (a.value == b.value && a.token < b.token);
}

// If all values are -inf, the exponentials are taken as they are: all are 0.
__device__ float summary_reference(float largest) { return largest == -INFINITY ? 0.0f : largest; }

__device__ SummaryEntry summary_best_of(const SummaryEntry (&mine)[kSummaryEach]) {
  SummaryEntry best = summary_none();
  TRIESCOPE_UNROLL
  for (int i = 0; i < kSummaryEach; ++i)
    if (summary_before(mine[i], best)) best = mine[i];
  return best;
}

// The best entry of the block, in every thread. warps: one entry for each warp, in shared memory,
// in use until every thread has returned.
__device__ SummaryEntry summary_block_best(SummaryEntry best, SummaryEntry* warps) {
  for (int lane = 16; lane > 0; lane /= 2) {
    const SummaryEntry other = {__shfl_xor_sync(0xffffffffu, best.value, lane),
                                __shfl_xor_sync(0xffffffffu, best.token, lane)};
    if (summary_before(other, best)) best = other;
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = best;
  __syncthreads();
  best = warps[0];
  TRIESCOPE_UNROLL
  for (int w = 1; w < kSummaryWarps; ++w)
    if (summary_before(warps[w], best)) best = warps[w];
  return best;
}

// Calls found(i, entry) in every thread with the i-th best of the block's entries, i ascending from
// 0 to k. No two entries have the same token. An entry is still in `mine` when it is found.
template <class Found>
__device__ void summary_select(SummaryEntry (&mine)[kSummaryEach], int k, Found&& found) {
  // Two arrays in turn: while some threads read those of one round, others write those of the next.
  TRIESCOPE_SHARED(SummaryEntry, warps, [2][kSummaryWarps]);
  SummaryEntry best = summary_best_of(mine);
  for (int i = 0; i < k; ++i) {
    const SummaryEntry taken = summary_block_best(best, warps[i % 2]);
    found(i, taken);
    if (taken.token != best.token) continue;
    TRIESCOPE_UNROLL
    for (int e = 0; e < kSummaryEach; ++e)
      if (mine[e].token == taken.token) mine[e] = summary_none();
    best = summary_best_of(mine);
  }
}

// One part of a row: its maximum, its sum, its k best (followed by summary_none() if the part is
// shorter).
__global__ void __launch_bounds__(kSummaryThreads)
    summary_of_parts(TRIESCOPE_CALL TriescopeRowSummary a, TRIESCOPE_CALL SummaryScratch scratch) {
  TRIESCOPE_SHARED(float, sums, [kSummaryWarps]);
  const int t = threadIdx.x, of_row = static_cast<int>(blockIdx.y);
  const int64_t row = blockIdx.x, part = row * summary_parts(a.count) + of_row;
  const float* x = a.x + row * a.row_stride;
  SummaryEntry mine[kSummaryEach];
  float sum = 0.0f;
  TRIESCOPE_UNROLL
  for (int e = 0; e < kSummaryEach; ++e) {
    const int token = of_row * kSummaryPart + e * kSummaryThreads + t;
    mine[e] = token < a.count ? SummaryEntry{x[token], token} : summary_none();
    if (isnan(mine[e].value)) {
      sum = mine[e].value;  // a NaN stays one, whatever is added
      mine[e].value = -INFINITY;
    }
  }
  summary_select(mine, a.k, [&](int i, const SummaryEntry& found) {
    if (i == 0) {
      const float reference = summary_reference(found.value);
      TRIESCOPE_UNROLL
      for (int e = 0; e < kSummaryEach; ++e)
        sum = __fadd_rn(sum, expf(__fsub_rn(mine[e].value, reference)));
      sum = block_sum<kSummaryThreads>(sum, sums);
      if (t == 0) scratch.parts[part] = {found.value, sum};
    }
    if (t == 0) scratch.entries[part * a.k + i] = found;
  });
}

// One row, from the results of its parts.
__global__ void __launch_bounds__(kSummaryThreads)
    summary_of_rows(TRIESCOPE_CALL TriescopeRowSummary a, TRIESCOPE_CALL SummaryScratch scratch) {
  TRIESCOPE_SHARED(float, sums, [kSummaryWarps]);
  const int t = threadIdx.x;
  const int64_t row = blockIdx.x;
  const int parts = summary_parts(a.count);
  const SummaryEntry* entries = scratch.entries + row * parts * a.k;
  SummaryEntry mine[kSummaryEach];
  TRIESCOPE_UNROLL
  for (int e = 0; e < kSummaryEach; ++e) {
    const int at = e * kSummaryThreads + t;
    mine[e] = at < parts * a.k ? entries[at] : summary_none();
  }
  summary_select(mine, a.k, [&](int i, const SummaryEntry& found) {
    if (i == 0) {
      float sum = 0.0f;
      if (t < parts) {
        const SummaryPart part = scratch.parts[row * parts + t];
        const float share =
            part.largest == found.value ? 1.0f : expf(__fsub_rn(part.largest, found.value));
        sum = __fmul_rn(part.sum, share);
      }
      sum = block_sum<kSummaryThreads>(sum, sums);
      if (t == 0) a.log_sum[row] = __fadd_rn(found.value, logf(sum));
    }
    if (t == 0) {
      a.values[row * a.k + i] = found.value;
      a.tokens[row * a.k + i] = found.token;
    }
  });
}

bool summary_sizes(int32_t rows, int32_t count, int32_t k) {
  return rows >= 0 && k >= 1 && k <= kTriescopeRowSummaryBest && count >= k &&
         count <= kTriescopeRowSummaryTokens;
}

}  // namespace
}  // namespace triescope::kernels::cuda

extern "C" size_t triescope_cuda_row_summary_scratch(int32_t rows, int32_t count, int32_t k) {
  using namespace triescope::kernels::cuda;
  if (!summary_sizes(rows, count, k)) return 0;
  return static_cast<size_t>(rows) * static_cast<size_t>(summary_parts(count)) *
         (sizeof(SummaryPart) + sizeof(SummaryEntry) * static_cast<size_t>(k));
}

extern "C" int triescope_cuda_row_summary(const TriescopeRowSummary* call, void* stream) {
  using namespace triescope::kernels::cuda;
  const TriescopeRowSummary& a = *call;
  if (!summary_sizes(a.rows, a.count, a.k) || a.row_stride < a.count) return cudaErrorInvalidValue;
  if (a.rows == 0) return cudaSuccess;
  const bool given = a.x != nullptr && a.log_sum != nullptr && a.values != nullptr &&
                     a.tokens != nullptr && a.scratch != nullptr && vector_aligned(a.scratch) &&
                     a.scratch_bytes >= triescope_cuda_row_summary_scratch(a.rows, a.count, a.k);
  if (!given) return cudaErrorInvalidValue;
  const int parts = summary_parts(a.count);
  SummaryScratch scratch = {};
  scratch.parts = static_cast<SummaryPart*>(a.scratch);
  scratch.entries =
      reinterpret_cast<SummaryEntry*>(scratch.parts + static_cast<int64_t>(a.rows) * parts);
  const auto on = static_cast<cudaStream_t>(stream);
  const dim3 rows(static_cast<unsigned>(a.rows));
  const dim3 rows_and_parts(static_cast<unsigned>(a.rows), static_cast<unsigned>(parts));
  TRIESCOPE_LAUNCH(summary_of_parts, rows_and_parts, kSummaryThreads, on, a, scratch);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  TRIESCOPE_LAUNCH(summary_of_rows, rows, kSummaryThreads, on, a, scratch);
  return cudaGetLastError();
}
