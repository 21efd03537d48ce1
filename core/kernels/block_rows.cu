#include "core/kernels/block_rows.cuh"

#include "core/kernels/device_blocks.cuh"
#include "core/kernels/element.cuh"
#include "core/kernels/launch.cuh"

namespace triescope::kernels::cuda {
namespace {

constexpr int kBlockRowsThreads = 128;

template <class T, int hop>
__device__ void block_rows_store(void* out, int64_t at, const float* w) {
  T* to = static_cast<T*>(out) + at;
  store<T, 4>(to, w);
  store<T, 4>(to + hop, w + 4);
}

template <class Block>
__global__ void __launch_bounds__(kBlockRowsThreads)
    block_rows(TRIESCOPE_CALL TriescopeBlockRows a) {
  const int units = a.inputs / 8;
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kBlockRowsThreads + threadIdx.x;
  const int64_t i = index / units;
  if (i >= a.rows) return;
  const int unit = static_cast<int>(index % units);
  const int block = unit / Block::kParts, part = unit % Block::kParts;
  const int64_t row = a.ids == nullptr ? i : a.ids[i];
  const int64_t blocks = a.inputs / Block::kValues;
  float w[8];
  Block::decode(
      static_cast<const unsigned char*>(a.blocks) + (row * blocks + block) * Block::kBytes, part,
      w);
  const int64_t at = i * a.out_stride + block * Block::kValues + Block::first(part);
  if (a.dtype == kTriescopeF32) {
    block_rows_store<float, Block::kHop>(a.out, at, w);
  } else if (a.dtype == kTriescopeF16) {
    block_rows_store<__half, Block::kHop>(a.out, at, w);
  } else {
    block_rows_store<__nv_bfloat16, Block::kHop>(a.out, at, w);
  }
}

}  // namespace
}  // namespace triescope::kernels::cuda

extern "C" int triescope_cuda_block_rows(const TriescopeBlockRows* call, void* stream) {
  const TriescopeBlockRows& a = *call;
  using namespace triescope::kernels::cuda;
  return with_device_block(a.type, cudaErrorInvalidValue, [&](auto type) -> cudaError_t {
    using Block = decltype(type);
    const bool shape = a.rows >= 1 && a.inputs >= 1 && a.inputs % Block::kValues == 0 &&
                       a.out_stride >= a.inputs && a.out_stride % 4 == 0 &&
                       a.dtype >= kTriescopeF32 && a.dtype <= kTriescopeBF16;
    if (!shape || !has_blocks<Block>(a.blocks) || a.out == nullptr || !vector_aligned(a.out)) {
      return cudaErrorInvalidValue;
    }
    const int64_t units = static_cast<int64_t>(a.rows) * (a.inputs / 8);
    const int64_t grid = (units + kBlockRowsThreads - 1) / kBlockRowsThreads;
    if (grid > INT32_MAX) return cudaErrorInvalidValue;
    TRIESCOPE_LAUNCH(block_rows<Block>, dim3(static_cast<unsigned>(grid)), kBlockRowsThreads,
                     static_cast<cudaStream_t>(stream), a);
    return cudaGetLastError();
  });
}
