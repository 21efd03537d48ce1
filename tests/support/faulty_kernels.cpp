// faulty_kernels NAME: runs a kernel of blocks of 64 threads on the CPU stand-in, each with one
// fault of which the stand-in or a sanitizer tells (cuda_block.h), or none. 0 = the right result, 3 = a
// wrong one, 2 = no kernel has that name.
#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <string_view>
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
  std::vector<int> in(kThreads), out(kThreads);
  std::iota(in.begin(), in.end(), 100);
  const int* const from = in.data();
  int* const to = out.data();
  const dim3 one(1), two(2);
  const auto reverse_with = [=](bool warps, Between between) {
    return [=] { TRIESCOPE_LAUNCH(reverse, one, kThreads, nullptr, from, to, warps, between); };
  };
  const auto reverse_twice_with = [=](bool apart) {
    return [=] { TRIESCOPE_LAUNCH(reverse_twice, one, kThreads, nullptr, from, to, apart); };
  };
  const auto two_blocks_with = [=](bool apart) {
    return [=] { TRIESCOPE_LAUNCH(two_blocks, two, kThreads, nullptr, from, to, apart); };
  };
  const auto barrier_until = [=](int until) {
    return [=] { TRIESCOPE_LAUNCH(lone_barrier, one, kThreads, nullptr, from, to, until); };
  };
  const auto alone = [=](void (*kernel)(const int*, int*)) {
    return [=] { TRIESCOPE_LAUNCH(kernel, one, kThreads, nullptr, from, to); };
  };
  struct Case {
    const char* name;
    std::size_t mask;  // right is out[t] = in[t ^ mask]
    std::function<void()> launch;
  };
  const Case cases[] = {
      {"barrier", 63, reverse_with(false, Between::kBarrier)},
      {"no_barrier", 63, reverse_with(false, Between::kNothing)},
      {"warp_barrier_of_two_warps", 63, reverse_with(false, Between::kWarpBarrier)},
      {"warp_barrier", 31, reverse_with(true, Between::kWarpBarrier)},
      {"shuffle_for_barrier", 31, reverse_with(true, Between::kShuffle)},
      {"three_barriers", 0, reverse_twice_with(true)},
      {"two_barriers", 0, reverse_twice_with(false)},
      {"blocks_apart", 0, two_blocks_with(true)},
      {"blocks_together", 0, two_blocks_with(false)},
      {"lone_barrier", 0, barrier_until(32)},
      {"barrier_in_half_a_warp", 0, barrier_until(16)},
      {"lone_shuffle", 0, alone(lone_shuffle)},
      {"idle_warp", 0, alone(idle_warp)},
      {"unwritten_shared", 0, alone(unwritten_shared)},
      {"beyond_shared", 0, alone(beyond_shared)},
      {"beyond_global", 0, alone(beyond_global)},
  };
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto* const found = std::ranges::find(cases, name, &Case::name);
  if (found == std::end(cases)) return 2;
  found->launch();
  for (std::size_t t = 0; t < kThreads; ++t)
    if (out[t] != in[t ^ found->mask]) return 3;
  return 0;
}
