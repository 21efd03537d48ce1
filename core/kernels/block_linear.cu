#include "core/kernels/block_linear.cuh"

#include "core/kernels/device_blocks.cuh"
#include "core/kernels/device_blocks/dense.cuh"
#include "core/kernels/element.cuh"
#include "core/kernels/launch.cuh"

namespace triescope::kernels::cuda {
namespace {

constexpr int kBlockLinearThreads = 128;
constexpr int kBlockLinearWarps = kBlockLinearThreads / 32;

// Outputs of a block. All of them use the same loaded x, and each row takes a register for each of
// them.
constexpr int block_linear_outputs(int most_rows) { return most_rows > 8 ? 2 : 4; }

// Sums each of `count` values over the lanes of a warp, in pairs of lanes 16, 8, 4, 2 and 1 apart.
// While there are values left to share out, each of a pair's two lanes keeps half of them: fewer
// shuffles than summing every value in every lane, and the same additions. Value lane * count / 32
// ends in v[0].
template <int count>
__device__ void block_linear_reduce(float (&v)[count], int lane) {
  static_assert(count <= 32 && (count & (count - 1)) == 0);
  int left = count;
  TRIESCOPE_UNROLL
  for (int apart = 16; apart > 0; apart /= 2) {
    if (left > 1) {
      left /= 2;
      const bool upper = (lane & apart) != 0;
      TRIESCOPE_UNROLL
      for (int i = 0; i < count / 2; ++i) {
        if (i >= left) continue;
        const float keep = upper ? v[left + i] : v[i], give = upper ? v[i] : v[left + i];
        v[i] = __fadd_rn(keep, __shfl_xor_sync(0xffffffffu, give, apart));
      }
    } else {
      v[0] = __fadd_rn(v[0], __shfl_xor_sync(0xffffffffu, v[0], apart));
    }
  }
}

__device__ inline void block_linear_store(void* y, int64_t at, float value, int dtype) {
  if (dtype == kTriescopeF32) {
    static_cast<float*>(y)[at] = value;
  } else if (dtype == kTriescopeF16) {
    static_cast<__half*>(y)[at] = Element<__half>::narrow(value);
  } else {
    static_cast<__nv_bfloat16*>(y)[at] = Element<__nv_bfloat16>::narrow(value);
  }
}

// For up to `most` rows. A row's arithmetic is the same for every `most`.
template <class Block, class T, int most>
__global__ void __launch_bounds__(kBlockLinearThreads)
    block_linear_rows(TRIESCOPE_CALL TriescopeBlockLinear a) {
  constexpr int kOutputs = block_linear_outputs(most), kSums = most * kOutputs;
  TRIESCOPE_SHARED(float, warp_sums, [kBlockLinearWarps][kSums]);
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int n0 = static_cast<int>(blockIdx.x) * kOutputs;
  const int64_t row_bytes = static_cast<int64_t>(a.inputs / Block::kValues) * Block::kBytes;
  const auto* blocks = static_cast<const unsigned char*>(a.blocks);
  const T* x = static_cast<const T*>(a.x);
  float sum[kSums];
  TRIESCOPE_UNROLL
  for (int i = 0; i < kSums; ++i) sum[i] = 0.0f;
  for (int unit = t; unit < a.inputs / 8; unit += kBlockLinearThreads) {
    const int block = unit / Block::kParts, part = unit % Block::kParts;
    float w[kOutputs][8];
    TRIESCOPE_UNROLL
    for (int o = 0; o < kOutputs; ++o) {
      const int n = min(n0 + o, a.outputs - 1);  // the last outputs' sums may be unused
      Block::decode(blocks + n * row_bytes + static_cast<int64_t>(block) * Block::kBytes, part,
                    w[o]);
    }
    const T* from = x + block * Block::kValues + Block::first(part);
    TRIESCOPE_UNROLL
    for (int r = 0; r < most; ++r) {
      if (r >= a.rows) continue;
      float xs[8];
      load<T, 4>(from + r * a.x_stride, xs);
      load<T, 4>(from + r * a.x_stride + Block::kHop, xs + 4);
      TRIESCOPE_UNROLL
      for (int o = 0; o < kOutputs; ++o) {
        TRIESCOPE_UNROLL
        for (int i = 0; i < 8; ++i)
          sum[r * kOutputs + o] = __fmaf_rn(xs[i], w[o][i], sum[r * kOutputs + o]);
      }
    }
  }

  block_linear_reduce(sum, lane);
  if (lane % (32 / kSums) == 0) warp_sums[warp][lane * kSums / 32] = sum[0];
  __syncthreads();
  const int r = t / kOutputs, n = n0 + t % kOutputs;
  if (t >= kSums || r >= a.rows || n >= a.outputs) return;
  float total = warp_sums[0][t];
  for (int i = 1; i < kBlockLinearWarps; ++i) total = __fadd_rn(total, warp_sums[i][t]);
  if (a.bias != nullptr)
    total = __fadd_rn(total, Element<T>::widen(static_cast<const T*>(a.bias)[n]));
  block_linear_store(a.y, r * a.y_stride + n, total, a.y_dtype);
}

template <class Block, class T, int most>
cudaError_t block_linear_launch(const TriescopeBlockLinear& a, cudaStream_t stream) {
  constexpr int kOutputs = block_linear_outputs(most);
  const dim3 grid(static_cast<unsigned>((a.outputs - 1) / kOutputs + 1));
  const auto block_linear = block_linear_rows<Block, T, most>;
  TRIESCOPE_LAUNCH(block_linear, grid, kBlockLinearThreads, stream, a);
  return cudaGetLastError();
}

template <class Block, class T>
cudaError_t block_linear_by_rows(const TriescopeBlockLinear& a, cudaStream_t stream) {
  if (a.rows == 1) return block_linear_launch<Block, T, 1>(a, stream);
  if (a.rows <= 4) return block_linear_launch<Block, T, 4>(a, stream);
  if (a.rows <= 8) return block_linear_launch<Block, T, 8>(a, stream);
  return block_linear_launch<Block, T, kTriescopeBlockLinearRows>(a, stream);
}

template <class Block, class T>
cudaError_t block_linear_checked(const TriescopeBlockLinear& a, cudaStream_t stream) {
  const bool shape = a.rows >= 1 && a.rows <= kTriescopeBlockLinearRows && a.outputs >= 1 &&
                     a.inputs >= 1 && a.inputs % Block::kValues == 0 && a.x_stride >= a.inputs &&
                     a.x_stride % 4 == 0 && a.y_stride >= a.outputs && a.y_dtype >= kTriescopeF32 &&
                     a.y_dtype <= kTriescopeBF16;
  if (!shape || !has_blocks<Block>(a.blocks) || a.x == nullptr || !vector_aligned(a.x) ||
      a.y == nullptr) {
    return cudaErrorInvalidValue;
  }
  return block_linear_by_rows<Block, T>(a, stream);
}

}  // namespace
}  // namespace triescope::kernels::cuda

extern "C" int triescope_cuda_block_linear(const TriescopeBlockLinear* call, void* stream) {
  const TriescopeBlockLinear& a = *call;
  using namespace triescope::kernels::cuda;
  using triescope::formats::GgmlType;
  const auto launch = [&](auto block, auto element) {
    return block_linear_checked<decltype(block), decltype(element)>(
        a, static_cast<cudaStream_t>(stream));
  };
  if (a.type == static_cast<int32_t>(GgmlType::kF16) && a.x_dtype == kTriescopeF16)
    return launch(DeviceDense<__half>{}, __half{});
  if (a.type == static_cast<int32_t>(GgmlType::kBF16) && a.x_dtype == kTriescopeBF16)
    return launch(DeviceDense<__nv_bfloat16>{}, __nv_bfloat16{});
  return with_device_block(a.type, cudaErrorInvalidValue, [&](auto block) {
    return with_element(a.x_dtype, [&](auto element) { return launch(block, element); });
  });
}
