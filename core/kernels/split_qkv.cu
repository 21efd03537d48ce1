#include "core/kernels/split_qkv.cuh"

#include "core/kernels/element.cuh"
#include "core/kernels/launch.cuh"
#include "core/kernels/sums.cuh"

namespace {

using triescope::kernels::cuda::Element;
using triescope::kernels::cuda::rounded;
using triescope::kernels::cuda::warp_sum;

constexpr int kSplitThreads = 128;
constexpr int kSplitWarps = kSplitThreads / 32;

template <class T>
__global__ void __launch_bounds__(kSplitThreads)
    split_qkv_heads(TRIESCOPE_CALL TriescopeSplitQkv a) {
  const int lane = threadIdx.x % 32, row = blockIdx.y, all = a.heads + 2 * a.kv_heads;
  const int head = blockIdx.x * kSplitWarps + threadIdx.x / 32;
  if (head >= all) return;  // the whole warp
  T* from = static_cast<T*>(a.qkv) + (static_cast<int64_t>(row) * all + head) * a.head_dim;
  const bool is_query = head < a.heads, is_value = head >= a.heads + a.kv_heads;
  T* to = from;
  if (!is_query) {
    T* storage = static_cast<T*>(is_value ? a.values : a.keys);
    const int kv_head = (head - a.heads) % a.kv_heads;
    to = storage + (static_cast<int64_t>(a.slots[row]) * a.kv_heads + kv_head) * a.head_dim;
  }
  if (is_value) {
    for (int d = lane; d < a.head_dim; d += 32) to[d] = from[d];
    return;
  }
  const float* weight = is_query ? a.query_norm : a.key_norm;
  float scale = 1.0f;
  if (weight != nullptr) {
    float sum = 0.0f;
    for (int d = lane; d < a.head_dim; d += 32) {
      const float v = Element<T>::widen(from[d]);
      sum = __fmaf_rn(v, v, sum);
    }
    const float mean = __fdiv_rn(warp_sum(sum), static_cast<float>(a.head_dim));
    __syncwarp();  // lanes change in place what others have read
    scale = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(mean, a.eps)));
  }
  const auto value = [&](int d) {
    const float v = Element<T>::widen(from[d]);
    return weight == nullptr ? v : rounded<T>(__fmul_rn(__fmul_rn(v, scale), weight[d]));
  };
  // A lane reads both values of a pair before it writes them: q may be changed in place.
  const int half = a.rope_dims / 2;
  const float* cos = a.cos + static_cast<int64_t>(row) * half;
  const float* sin = a.sin + static_cast<int64_t>(row) * half;
  for (int i = lane; i < half; i += 32) {
    const float v = value(i), w = value(i + half), c = cos[i], s = sin[i];
    to[i] = Element<T>::narrow(__fsub_rn(__fmul_rn(v, c), __fmul_rn(w, s)));
    to[i + half] = Element<T>::narrow(__fadd_rn(__fmul_rn(w, c), __fmul_rn(v, s)));
  }
  for (int d = 2 * half + lane; d < a.head_dim; d += 32) to[d] = Element<T>::narrow(value(d));
}

template <class T>
cudaError_t launch_split_qkv(const TriescopeSplitQkv& a, cudaStream_t stream) {
  const int heads = a.heads + 2 * a.kv_heads;
  const dim3 grid(static_cast<unsigned>((heads + kSplitWarps - 1) / kSplitWarps),
                  static_cast<unsigned>(a.rows));
  TRIESCOPE_LAUNCH(split_qkv_heads<T>, grid, kSplitThreads, stream, a);
  return cudaGetLastError();
}

}  // namespace

extern "C" int triescope_cuda_split_qkv(const TriescopeSplitQkv* call, void* stream) {
  using triescope::kernels::cuda::with_element;
  const TriescopeSplitQkv& a = *call;
  const bool shape = a.rows >= 1 && a.rows <= 65535 && a.heads >= 1 && a.kv_heads >= 1 &&
                     a.head_dim >= 1 && a.rope_dims >= 0 && a.rope_dims <= a.head_dim &&
                     a.rope_dims % 2 == 0 && a.eps >= 0;
  const bool rotation = a.rope_dims == 0 || (a.cos != nullptr && a.sin != nullptr);
  const bool given =
      a.qkv != nullptr && a.keys != nullptr && a.values != nullptr && a.slots != nullptr;
  if (!shape || !rotation || !given) return cudaErrorInvalidValue;
  return with_element(a.dtype, [&](auto element) {
    return launch_split_qkv<decltype(element)>(a, static_cast<cudaStream_t>(stream));
  });
}
