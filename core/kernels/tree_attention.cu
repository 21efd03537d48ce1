#include "core/kernels/tree_attention.cuh"

#include "core/kernels/device_attention/combine.cuh"
#include "core/kernels/device_attention/partition.cuh"

namespace triescope::kernels::cuda::attention {
namespace {

int partitions_of(int64_t slots) { return static_cast<int>((slots + kPartition - 1) / kPartition); }

// How a call is divided into passes that need at most this many bytes of scratch. If there is room,
// one pass does everything and keeps no chains. Otherwise a pass has as many rows as there is room
// for with their chains and kGoodSpan partitions, and as many partitions as these rows leave room
// for. rows 0: not even one row fits.
struct Plan {
  int rows, span;
  bool chains;
  size_t bytes;
};

Plan plan_of(int32_t rows, int32_t heads, int32_t head_dim, int32_t longest, size_t room) {
  constexpr size_t kGoodSpan = 8;
  const auto size = [](int64_t value) { return static_cast<size_t>(value); };
  const size_t partial = sizeof(float) * size(heads) * size(head_dim + 2);
  const size_t partitions = size(partitions_of(longest));
  if (partitions * size(rows) <= room / partial)
    return {rows, static_cast<int>(partitions), false, partial * partitions * size(rows)};
  const size_t wanted = room / (partial * (kChains + min(partitions, kGoodSpan)));
  const size_t together = min(size(rows), max(wanted, size(1)));
  const size_t parts = room / (partial * together);
  if (parts <= kChains) return {};
  const size_t span = min(parts - kChains, partitions);
  return {static_cast<int>(together), static_cast<int>(span), true,
          partial * together * (kChains + span)};
}

template <class T, int kDim>
cudaError_t launch_pass(const TriescopeTreeAttention& a, const Pass& pass, cudaStream_t stream) {
  const auto attention_partitions = attend_partition<T, kDim>;
  const auto attention_combine = combine_partitions<T, kDim>;
  const int blocks =
      pass.common * pass.tiles + (pass.span - pass.common) * pass.rows * pass.row_tiles;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(a.kv_heads));
  TRIESCOPE_LAUNCH(attention_partitions, grid, kThreads, stream, a, pass);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  const dim3 outputs(static_cast<unsigned>(a.heads), static_cast<unsigned>(pass.rows));
  TRIESCOPE_LAUNCH(attention_combine, outputs, kChains * 32, stream, a, pass);
  return cudaGetLastError();
}

template <class T, int kDim>
cudaError_t launch_attention(const TriescopeTreeAttention& a, const Plan& plan,
                             cudaStream_t stream) {
  constexpr int kQueries = Tiles<T, kDim>::kQueries;
  const int group = a.heads / a.kv_heads;
  const bool causal = a.offsets == nullptr;
  for (int row0 = 0; row0 < a.rows; row0 += plan.rows) {
    Pass pass = {};
    pass.row0 = row0;
    pass.rows = min(plan.rows, a.rows - row0);
    pass.tiles = (pass.rows * group + kQueries - 1) / kQueries;
    pass.row_tiles = (group + kQueries - 1) / kQueries;
    // In a causal call these rows are known to see slots up to here.
    const int end = partitions_of(causal ? a.prefix_count + row0 + pass.rows : a.longest);
    const int begin =
        causal && a.window > 0 ? max(a.prefix_count + row0 + 1 - a.window, 0) / kPartition : 0;
    const int common = causal ? end : a.prefix_count / kPartition;
    for (int first = begin; first < end; first += plan.span) {
      pass.first = first;
      pass.span = min(plan.span, end - first);
      pass.common = min(max(common - first, 0), pass.span);
      pass.resumed = first > begin;
      pass.finished = first + pass.span == end;
      const int64_t rows = static_cast<int64_t>(pass.rows) * a.heads;
      pass.values = static_cast<float*>(a.scratch);
      pass.chains = pass.values + rows * plan.span * a.head_dim;
      pass.summary = pass.chains + (plan.chains ? rows * kChains * a.head_dim : 0);
      pass.chain_of = pass.summary + rows * plan.span * 2;
      const cudaError_t error = launch_pass<T, kDim>(a, pass, stream);
      if (error != cudaSuccess) return error;
    }
  }
  return cudaSuccess;
}

template <class T>
cudaError_t launch_of_head(const TriescopeTreeAttention& a, const Plan& plan, cudaStream_t stream) {
  switch (a.head_dim) {
    case 64:
      return launch_attention<T, 64>(a, plan, stream);
    case 80:
      return launch_attention<T, 80>(a, plan, stream);
    case 96:
      return launch_attention<T, 96>(a, plan, stream);
    case 128:
      return launch_attention<T, 128>(a, plan, stream);
    case 256:
      return launch_attention<T, 256>(a, plan, stream);
    default:
      return launch_attention<T, 0>(a, plan, stream);
  }
}

}  // namespace
}  // namespace triescope::kernels::cuda::attention

extern "C" size_t triescope_cuda_tree_attention_scratch(int32_t rows, int32_t heads,
                                                        int32_t head_dim, int32_t longest) {
  return triescope::kernels::cuda::attention::plan_of(rows, heads, head_dim, longest,
                                                      TRIESCOPE_ATTENTION_SCRATCH)
      .bytes;
}

extern "C" int triescope_cuda_tree_attention(const TriescopeTreeAttention* call, void* stream) {
  using namespace triescope::kernels::cuda::attention;
  using triescope::kernels::cuda::vector_aligned;
  using triescope::kernels::cuda::with_element;
  const TriescopeTreeAttention& a = *call;
  const bool shape = a.rows >= 1 && a.rows <= 65535 && a.heads >= 1 && a.kv_heads >= 1 &&
                     a.kv_heads <= 65535 && a.heads % a.kv_heads == 0 && a.head_dim >= 8 &&
                     a.head_dim <= kMaxHead && a.head_dim % 8 == 0 && a.longest >= 1 &&
                     a.prefix_count >= 0 && a.prefix_count <= a.longest && a.window >= 0;
  const bool places = vector_aligned(a.q) && vector_aligned(a.keys) && vector_aligned(a.values) &&
                      vector_aligned(a.scratch) && a.q_stride % 8 == 0;
  if (!shape || !places) return cudaErrorInvalidValue;
  if (a.offsets == nullptr && a.rows > a.longest - a.prefix_count) return cudaErrorInvalidValue;
  const Plan plan = plan_of(a.rows, a.heads, a.head_dim, a.longest,
                            min(a.scratch_bytes, size_t{TRIESCOPE_ATTENTION_SCRATCH}));
  if (plan.rows == 0) return cudaErrorInvalidValue;
  return with_element(a.dtype, [&](auto element) {
    return launch_of_head<decltype(element)>(a, plan, static_cast<cudaStream_t>(stream));
  });
}
