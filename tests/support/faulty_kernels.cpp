// faulty_kernels NAME: runs a kernel of blocks of 64 threads on the CPU stand-in, each with one
// fault of which the stand-in or a sanitizer tells (cuda_block.h), or none. 0 = the right result, 3 = a
// wrong one, 2 = no kernel has that name.
#include <cstring>
#include <vector>

#include "tests/support/cuda_stand_in.h"

namespace {

constexpr int kThreads = 64;

enum class Between { kNothing, kShuffle, kWarpBarrier, kBarrier };

// out[t] = in of the other end of the block, or of the warp: through shared memory, with what keeps
// writes and reads apart.
__global__ void reverse(const int* in, int* out, bool warps, Between between) {
  TRIESCOPE_SHARED(int, values, [kThreads]);
  const int t = threadIdx.x;
  values[t] = in[t];
  if (between == Between::kShuffle) __shfl_xor_sync(0xffffffffu, t, 1);
  if (between == Between::kWarpBarrier) __syncwarp();
  if (between == Between::kBarrier) __syncthreads();
  out[t] = values[t ^ (warps ? 31 : 63)];
}

// Twice through the same memory: the second time overwrites what others may still read.
__global__ void reverse_twice(const int* in, int* out, bool apart) {
  TRIESCOPE_SHARED(int, values, [kThreads]);
  const int t = threadIdx.x;
  values[t] = in[t];
  __syncthreads();
  const int other = values[63 - t];
  if (apart) __syncthreads();
  values[t] = other;
  __syncthreads();
  out[t] = values[63 - t];
}

__global__ void beyond_shared(const int* in, int* out) {
  TRIESCOPE_SHARED(int, values, [kThreads]);
  const int t = threadIdx.x;
  int* const next = values + t + 1;
  *next = in[t];
  __syncthreads();
  out[t] = *next;
}

__global__ void beyond_global(const int* in, int* out) {
  const int t = threadIdx.x;
  out[t + 1] = in[t];
}

// The block's own last thread has written nothing.
__global__ void unwritten_shared(const int* in, int* out) {
  TRIESCOPE_SHARED(int, values, [kThreads]);
  const int t = threadIdx.x;
  if (t < kThreads - 1) values[t] = in[t];
  __syncthreads();
  out[t] = values[t];
}

// Each block half of out; or all of it.
__global__ void two_blocks(const int* in, int* out, bool apart) {
  const int t = threadIdx.x;
  if (!apart || t / 32 == static_cast<int>(blockIdx.x)) out[t] = in[t];
}

__global__ void lone_barrier(const int* in, int* out, int until) {
  const int t = threadIdx.x;
  if (t < until) __syncthreads();
  out[t] = in[t];
}

__global__ void lone_shuffle(const int* in, int* out) {
  const int t = threadIdx.x;
  out[t] = in[t];
  if (t % 32 < 16) __shfl_xor_sync(0xffffffffu, t, 1);
}

// A whole warp has nothing to do: no fault, a shuffle is its warp's own.
__global__ void idle_warp(const int* in, int* out) {
  const int t = threadIdx.x;
  out[t] = in[t];
  if (t >= 32) return;
  out[t] = __shfl_xor_sync(0xffffffffu, in[t], 1);
  out[t] = __shfl_xor_sync(0xffffffffu, out[t], 1);
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  std::vector<int> in(kThreads), out(kThreads), right(kThreads);
  for (int i = 0; i < kThreads; ++i) in[static_cast<std::size_t>(i)] = 100 + i;
  const auto reversed = [&](std::size_t mask) {
    for (std::size_t i = 0; i < kThreads; ++i) right[i] = in[i ^ mask];
  };
  const int* const from = in.data();
  int* const to = out.data();
  const dim3 grid(1);
  right = in;
  if (is("barrier") || is("no_barrier") || is("warp_barrier_of_two_warps")) {
    reversed(63);
    const Between between = is("barrier")      ? Between::kBarrier
                            : is("no_barrier") ? Between::kNothing
                                               : Between::kWarpBarrier;
    TRIESCOPE_LAUNCH(reverse, grid, kThreads, nullptr, from, to, false, between);
  } else if (is("warp_barrier") || is("shuffle_for_barrier")) {
    reversed(31);
    const Between between = is("warp_barrier") ? Between::kWarpBarrier : Between::kShuffle;
    TRIESCOPE_LAUNCH(reverse, grid, kThreads, nullptr, from, to, true, between);
  } else if (is("three_barriers") || is("two_barriers")) {
    const bool apart = is("three_barriers");
    TRIESCOPE_LAUNCH(reverse_twice, grid, kThreads, nullptr, from, to, apart);
  } else if (is("beyond_shared")) {
    TRIESCOPE_LAUNCH(beyond_shared, grid, kThreads, nullptr, from, to);
  } else if (is("unwritten_shared")) {
    TRIESCOPE_LAUNCH(unwritten_shared, grid, kThreads, nullptr, from, to);
  } else if (is("blocks_apart") || is("blocks_together")) {
    const bool apart = is("blocks_apart");
    TRIESCOPE_LAUNCH(two_blocks, dim3(2), kThreads, nullptr, from, to, apart);
  } else if (is("beyond_global")) {
    TRIESCOPE_LAUNCH(beyond_global, grid, kThreads, nullptr, from, to);
  } else if (is("lone_barrier") || is("barrier_in_half_a_warp")) {
    const int until = is("lone_barrier") ? 32 : 16;
    TRIESCOPE_LAUNCH(lone_barrier, grid, kThreads, nullptr, from, to, until);
  } else if (is("lone_shuffle")) {
    TRIESCOPE_LAUNCH(lone_shuffle, grid, kThreads, nullptr, from, to);
  } else if (is("idle_warp")) {
    TRIESCOPE_LAUNCH(idle_warp, grid, kThreads, nullptr, from, to);
  } else {
    return 2;
  }
  return out == right ? 0 : 3;
}
