// Enough of CUDA to run a kernel's source on the CPU, so that its arithmetic and indexing are
// tested where no GPU is: a block's threads are fibres that take turns at every barrier. Include
// before a .cu file. Correct for kernels whose threads all meet the same barriers and shuffles (a
// GPU demands that too); says nothing about races between barriers or about speed.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bf16.h"

#define __global__
#define __device__
#define __noinline__
#define __shared__ static  // blocks run one after another
#define __launch_bounds__(...)
#define TRIESCOPE_UNROLL
#define TRIESCOPE_UNROLL_4
#define TRIESCOPE_CALL const

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

// A place of execution to leave and to come back to. swapcontext() asks the kernel for the signal
// mask at every switch, and a block switches thousands of times: so it only begins a fibre, and the
// compiler's own jumps go on with it where they are known to work.
struct Place {
  ucontext_t context{};
  void* jump[5] = {};
  bool begun = false;
};

[[gnu::noinline]] inline void switch_places(Place& from, Place& to) {
#if defined(__x86_64__)
  if (__builtin_setjmp(from.jump) != 0) return;  // somebody came back
  from.begun = true;
  if (to.begun) __builtin_longjmp(to.jump, 1);
  setcontext(&to.context);
#else
  swapcontext(&from.context, &to.context);
#endif
}

// Every thread of a block needs a stack of its own only from its first barrier on: until then one
// fibre runs thread after thread.
struct Block {
  Place scheduler;
  std::vector<Place> fibres;
  std::size_t stacks = 0;               // in use, by fibre
  std::vector<int> fibre_of;            // by thread; -1 = has met no barrier
  std::vector<char> ended;              // by thread
  std::vector<std::uint32_t> exchange;  // by turn, then thread
  std::vector<unsigned char> turn;      // by thread: of its next shuffle, 0 or 1
  unsigned threads = 0, started = 0;
  unsigned current = 0;  // the thread that runs
  int fibre = 0;         // on this fibre
  std::function<void()> body;
};
inline Block* block = nullptr;
inline std::vector<std::unique_ptr<char[]>> stacks;  // for all blocks, one after another

inline void yield() {
  block->fibre_of[block->current] = block->fibre;
  switch_places(block->fibres[static_cast<std::size_t>(block->fibre)], block->scheduler);
}
inline void enter() {
  for (unsigned me = 0; block->started < block->threads;) {
    me = block->current = block->started++;
    block->body();
    block->ended[me] = 1;
    if (block->fibre_of[me] >= 0) break;  // the threads after it were started by others meanwhile
  }
  Place over;  // nobody comes back here
  switch_places(over, block->scheduler);
}

inline void run_block(unsigned threads, const std::function<void()>& body) {
  constexpr std::size_t kStack = 64 << 10;
  Block state;
  state.fibres.resize(threads);
  state.fibre_of.assign(threads, -1);
  state.ended.assign(threads, 0);
  state.exchange.resize(std::size_t{2} * threads);
  state.turn.assign(threads, 0);
  state.threads = threads;
  state.body = body;
  block = &state;
  while (state.started < threads) {
    state.fibre = static_cast<int>(state.stacks);
    if (state.stacks == stacks.size())
      stacks.push_back(std::make_unique_for_overwrite<char[]>(kStack));
    Place& fibre = state.fibres[static_cast<std::size_t>(state.fibre)];
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = stacks[state.stacks++].get();
    fibre.context.uc_stack.ss_size = kStack;
    makecontext(&fibre.context, enter, 0);
    switch_places(state.scheduler, fibre);
  }
  for (bool running = true; running;) {
    running = false;
    for (unsigned t = 0; t < threads; ++t) {
      if (state.ended[t]) continue;
      state.current = t;
      state.fibre = state.fibre_of[t];
      switch_places(state.scheduler, state.fibres[static_cast<std::size_t>(state.fibre)]);
      running = running || !state.ended[t];
    }
  }
  block = nullptr;
}

struct ThreadIndex {
  struct X {
    operator int() const { return static_cast<int>(block->current); }
  } x;
};

inline dim3 block_index;

}  // namespace cuda_stand_in

inline cuda_stand_in::ThreadIndex threadIdx;
#define blockIdx (::cuda_stand_in::block_index)

inline void __syncthreads() { cuda_stand_in::yield(); }
// One wait a shuffle: values of the next one go elsewhere, and nobody is two shuffles ahead.
template <class T>
requires(sizeof(T) == sizeof(std::uint32_t)) T __shfl_xor_sync(unsigned, T value, int mask) {
  auto& b = *cuda_stand_in::block;
  const unsigned me = b.current;
  std::uint32_t* values = b.exchange.data() + std::size_t{b.turn[me]} * b.threads;
  b.turn[me] ^= 1;
  values[me] = std::bit_cast<std::uint32_t>(value);
  cuda_stand_in::yield();
  return std::bit_cast<T>(values[me ^ static_cast<unsigned>(mask)]);
}

#define TRIESCOPE_LAUNCH(kernel, grid, threads, stream, ...)                 \
  do {                                                                       \
    (void)(stream);                                                          \
    ::cuda_stand_in::launches += #kernel "\n";                               \
    ::cuda_stand_in::blocks.push_back(long{(grid).x} * (grid).y * (grid).z); \
    auto& index = ::cuda_stand_in::block_index;                              \
    for (index.z = 0; index.z < (grid).z; ++index.z)                         \
      for (index.y = 0; index.y < (grid).y; ++index.y)                       \
        for (index.x = 0; index.x < (grid).x; ++index.x)                     \
          ::cuda_stand_in::run_block(threads, [&] { kernel(__VA_ARGS__); }); \
  } while (false)
