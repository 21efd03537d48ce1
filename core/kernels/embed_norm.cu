#include "core/kernels/embed_norm.cuh"

#include "core/kernels/device_blocks.cuh"
#include "core/kernels/launch.cuh"
#include "core/kernels/row_norm.cuh"

namespace triescope::kernels::cuda {
namespace {

// Turns values i .. i + kWidth of a row of the matrix into values of the stream.
template <class T, int kWidth>
__device__ void embed_store(const TriescopeEmbedNorm& a, int i, float* v, T* x) {
  if (a.scale != 1.0f) {
    const float scale = rounded<T>(a.scale);
    TRIESCOPE_UNROLL
    for (int e = 0; e < kWidth; ++e) v[e] = rounded<T>(__fmul_rn(rounded<T>(v[e]), scale));
  }
  if (a.position_table != nullptr) {
    const int64_t row = a.positions[blockIdx.x];
    float p[kWidth];
    load<T, kWidth>(static_cast<const T*>(a.position_table) + row * a.dim + i, p);
    TRIESCOPE_UNROLL
    for (int e = 0; e < kWidth; ++e) v[e] = __fadd_rn(rounded<T>(v[e]), p[e]);
  }
  store<T, kWidth>(x + i, v);
}

// A row of a dense matrix.
template <class T, int kWidth>
struct DenseRow {
  static __device__ void copy(const TriescopeEmbedNorm& a, int64_t row, T* x) {
    const T* from = static_cast<const T*>(a.table) + row * a.dim;
    for (int i = threadIdx.x * kWidth; i < a.dim; i += kNormThreads * kWidth) {
      float v[kWidth];
      load<T, kWidth>(from + i, v);
      embed_store<T, kWidth>(a, i, v, x);
    }
  }
};

// A row of blocks, eight values for each thread.
template <class T, class Block>
struct BlockRow {
  static __device__ void copy(const TriescopeEmbedNorm& a, int64_t row, T* x) {
    const int64_t row_bytes = static_cast<int64_t>(a.dim / Block::kValues) * Block::kBytes;
    const unsigned char* from = static_cast<const unsigned char*>(a.table) + row * row_bytes;
    for (int unit = threadIdx.x; unit < a.dim / 8; unit += kNormThreads) {
      const int block = unit / Block::kParts, part = unit % Block::kParts;
      float w[8];
      Block::decode(from + static_cast<int64_t>(block) * Block::kBytes, part, w);
      const int i = block * Block::kValues + Block::first(part);
      embed_store<T, 4>(a, i, w, x);
      embed_store<T, 4>(a, i + Block::kHop, w + 4, x);
    }
  }
};

template <class T, int kWidth, class Row>
__global__ void __launch_bounds__(kNormThreads)
    embed_norm_rows(TRIESCOPE_CALL TriescopeEmbedNorm a) {
  TRIESCOPE_SHARED(float, warps, [kNormThreads / 32]);
  const int64_t at = static_cast<int64_t>(blockIdx.x) * a.dim;
  T* x = static_cast<T*>(a.x) + at;
  Row::copy(a, a.ids[blockIdx.x], x);
  __syncthreads();  // a thread normalises other values than those it decoded
  float sum = 0.0f;
  for (int i = threadIdx.x * kWidth; i < a.dim; i += kNormThreads * kWidth) {
    float v[kWidth];
    load<T, kWidth>(x + i, v);
    TRIESCOPE_UNROLL
    for (int e = 0; e < kWidth; ++e) sum = norm_add(a, sum, v[e]);
  }
  write_normalised<T, kWidth>(a, x, sum, static_cast<T*>(a.out) + at, warps);
}

template <class T, int kWidth, class Row>
cudaError_t launch_embed_norm(const TriescopeEmbedNorm& a, cudaStream_t stream) {
  const auto embed_norm = embed_norm_rows<T, kWidth, Row>;
  TRIESCOPE_LAUNCH(embed_norm, dim3(static_cast<unsigned>(a.rows)), kNormThreads, stream, a);
  return cudaGetLastError();
}

template <class T>
cudaError_t embed_norm_of(const TriescopeEmbedNorm& a, cudaStream_t stream) {
  constexpr int kVector = kVectorOf<T>;
  if (a.type >= 0) {
    return with_device_block(a.type, cudaErrorInvalidValue, [&](auto type) -> cudaError_t {
      using Block = decltype(type);
      if (a.dim % Block::kValues != 0 || !has_blocks<Block>(a.table)) return cudaErrorInvalidValue;
      return launch_embed_norm<T, kVector, BlockRow<T, Block>>(a, stream);
    });
  }
  if (!vector_aligned(a.table)) return cudaErrorInvalidValue;
  if (a.dim % kVector == 0) return launch_embed_norm<T, kVector, DenseRow<T, kVector>>(a, stream);
  return launch_embed_norm<T, 1, DenseRow<T, 1>>(a, stream);
}

}  // namespace
}  // namespace triescope::kernels::cuda

extern "C" int triescope_cuda_embed_norm(const TriescopeEmbedNorm* call, void* stream) {
  using namespace triescope::kernels::cuda;
  const TriescopeEmbedNorm& a = *call;
  const bool fits = a.rows >= 1 && a.dim >= 1 && a.eps >= 0 && a.type >= -1 && a.table != nullptr &&
                    a.ids != nullptr && a.x != nullptr && a.out != nullptr && a.weight != nullptr &&
                    vector_aligned(a.x) && vector_aligned(a.out) &&
                    vector_aligned(a.position_table) &&
                    (a.position_table == nullptr || a.positions != nullptr);
  if (!fits) return cudaErrorInvalidValue;
  return with_element(a.dtype, [&](auto element) {
    return embed_norm_of<decltype(element)>(a, static_cast<cudaStream_t>(stream));
  });
}
