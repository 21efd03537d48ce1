// Enough of CUDA to run a kernel's source on the CPU, so that its arithmetic and indexing are
// tested where no GPU is: a block's threads are fibres that take turns (cuda_block.h, which says what
// else is found). Include before a .cu file. Says nothing about speed.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/bf16.h"
#include "tests/support/cuda_block.h"

#define __global__
#define __device__
#define __noinline__
#define __launch_bounds__(...)
#define TRIESCOPE_UNROLL
#define TRIESCOPE_UNROLL_4
#define TRIESCOPE_CALL const
#define TRIESCOPE_SHARED(type, name, ...)  \
  static char name##_in_shared_memory;     \
  using name##_type = type __VA_ARGS__;    \
  auto& name = *static_cast<name##_type*>( \
      ::cuda_stand_in::shared_memory(&name##_in_shared_memory, sizeof(name##_type)))

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }

using cudaError_t = int;
using cudaStream_t = void*;
constexpr int cudaSuccess = 0, cudaErrorInvalidValue = 1;

namespace cuda_stand_in {
// What was launched, in order, a line each: the kernel as it stands at its launch. Grows until
// somebody clears it.
inline std::string launches;
// And the blocks of each.
inline std::vector<long> blocks;
}  // namespace cuda_stand_in

// $TRIESCOPE_CUDA_STAND_IN_ERROR: "700" = every launch fails with it, "700 add_norm" = those of
// that kernel.
inline int cudaGetLastError() {
  const char* error = std::getenv("TRIESCOPE_CUDA_STAND_IN_ERROR");
  if (error == nullptr) return cudaSuccess;
  const char* kernel = std::strchr(error, ' ');
  if (kernel != nullptr && !cuda_stand_in::launches.ends_with(std::string(kernel + 1) + "\n"))
    return cudaSuccess;
  return std::atoi(error);
}

struct __half {
  _Float16 v;
};
struct __half2 {
  __half x, y;
};
struct __nv_bfloat16 {
  std::uint16_t v;
};
inline float __half2float(__half h) { return static_cast<float>(h.v); }
inline __half __float2half_rn(float f) { return {static_cast<_Float16>(f)}; }
inline float2 __half22float2(__half2 h) { return {__half2float(h.x), __half2float(h.y)}; }
inline float __bfloat162float(__nv_bfloat16 b) { return triescope::bf16_to_float(b.v); }
inline __nv_bfloat16 __float2bfloat16_rn(float f) { return {triescope::float_to_bf16(f)}; }
inline float __uint_as_float(unsigned u) { return std::bit_cast<float>(u); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
using std::isnan;
using std::max;
using std::min;

namespace cuda_stand_in {

struct ThreadIndex {
  struct X {
    TRIESCOPE_UNWATCHED operator int() const { return static_cast<int>(block->current); }
  } x;
};
struct BlockIndexes {
  template <unsigned BlockIndex::*kPart>
  struct Part {
    TRIESCOPE_UNWATCHED operator unsigned() const { return block->index.*kPart; }
  };
  Part<&BlockIndex::x> x;
  Part<&BlockIndex::y> y;
  Part<&BlockIndex::z> z;
};

}  // namespace cuda_stand_in

inline cuda_stand_in::ThreadIndex threadIdx;
inline cuda_stand_in::BlockIndexes blockIdx;

inline void __syncthreads() { cuda_stand_in::meet(cuda_stand_in::Meeting::kBarrier); }
inline void __syncwarp() { cuda_stand_in::meet(cuda_stand_in::Meeting::kWarpBarrier); }
template <class T>
requires(sizeof(T) == sizeof(std::uint32_t)) T __shfl_xor_sync(unsigned, T value, int mask) {
  return std::bit_cast<T>(
      cuda_stand_in::exchange(std::bit_cast<std::uint32_t>(value), static_cast<unsigned>(mask)));
}

#define TRIESCOPE_LAUNCH(kernel, grid, threads, stream, ...)                 \
  do {                                                                       \
    (void)(stream);                                                          \
    ::cuda_stand_in::launches += #kernel "\n";                               \
    ::cuda_stand_in::blocks.push_back(long{(grid).x} * (grid).y * (grid).z); \
    ::cuda_stand_in::run_blocks((grid).x, (grid).y, (grid).z, threads,       \
                                [&] { kernel(__VA_ARGS__); });               \
  } while (false)
