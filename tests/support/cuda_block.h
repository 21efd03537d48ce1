// Blocks of CUDA threads on the CPU: each thread a fibre. A warp goes on alone until it meets a barrier
// of its block, its threads taking turns at shuffles and barriers of the warp. What a GPU would punish
// is found:
//
//   threads of a block that do not all meet the same barriers, of a   the program ends, and says so
//   warp that do not meet the same shuffles and barriers
//   reads of shared memory that its block has not written            they are of NaNs
//   reads and writes that nothing keeps apart, of shared and of      ThreadSanitizer: barriers alone
//   global memory, within a block and between two that follow        order threads, and nothing orders
//   each other                                                       the two
//   reads and writes beyond shared and global memory                 AddressSanitizer
//
// A shuffle orders nothing, as CUDA says of it. The order of turns changes from one to the next, and
// blocks run from the last to the first, so that most of what relies on an order computes something
// else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "tests/support/fibre.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_stand_in {

using triescope::test::Fibre;
using triescope::test::FibreStack;

// What a thread waits at.
enum class Meeting : unsigned char { kNone, kBarrier, kWarpBarrier, kShuffle, kEnd };

inline const char* to_string(Meeting meeting) {
  switch (meeting) {
    case Meeting::kNone:
      return "nothing";
    case Meeting::kBarrier:
      return "a barrier";
    case Meeting::kWarpBarrier:
      return "a barrier of its warp";
    case Meeting::kShuffle:
      return "a shuffle";
    case Meeting::kEnd:
      return "its end";
  }
  return "";
}

inline constexpr unsigned kWarp = 32, kMostThreads = 1024;

struct Thread {
  int fibre = -1;  // that it waits on; -1 = has met nothing
  Meeting waits_at = Meeting::kNone;
  // Its next meeting of each kind: in turn 0 and 1, since nobody is two meetings ahead.
  unsigned char turn[static_cast<int>(Meeting::kEnd) + 1] = {};
  std::uint32_t given[2] = {};  // to its shuffles
};

// What blocks run on, one after another: their shared memory, their fibres' stacks. A launch's blocks go
// to two of them in turn, so that to ThreadSanitizer nothing orders a block and the next.
struct Multiprocessor {
  static constexpr std::size_t kShared = 48 << 10;  // of a block, as CUDA allows
  static constexpr std::size_t kVariables = 16;
  static constexpr std::size_t kApart = 64;  // bytes between two variables, at least
  struct Variable {
    const void* name = nullptr;
    std::size_t begin = 0;
  };

  alignas(128) unsigned char memory[kShared + kVariables * 2 * kApart] = {};
  Variable variables[kVariables];
  std::size_t variable_count = 0, used = 0, bytes = 0;
  std::vector<std::unique_ptr<FibreStack>> stacks;
  // The first of them are the running block's; the next block has them again.
  std::vector<Fibre> fibres;
  std::vector<Thread> threads;
  // For ThreadSanitizer: ends of blocks, and meetings, in turn.
  char at_end[2] = {}, at_barrier[2] = {}, at_warp_barrier[kMostThreads / kWarp][2] = {};
  unsigned char turn = 0;  // of the block
};
inline Multiprocessor multiprocessors[2];
inline char launch_begin = 0;  // for ThreadSanitizer

struct BlockIndex {
  unsigned x = 0, y = 0, z = 0;
};

// Plain arrays: what all threads use in turn is for no sanitizer to watch, and a container's own
// functions would be watched.
struct Block {
  Fibre scheduler = triescope::test::this_place();
  Multiprocessor* on = nullptr;
  BlockIndex index;
  Fibre* fibres = nullptr;                           // [threads], of which fibres_begun are
  Thread* thread = nullptr;                          // [threads]
  unsigned threads = 0, started = 0, start_end = 0;  // to be started now: [started, start_end)
  std::size_t fibres_begun = 0;
  unsigned current = 0;  // the thread that runs
  int fibre = 0;         // on this fibre
  const std::function<void()>* body = nullptr;
};
inline Block* block = nullptr;

// A variable in the block's shared memory: the same for all its threads. name: one address for each.
TRIESCOPE_UNWATCHED inline void* shared_memory(const void* name, std::size_t bytes) {
  Multiprocessor& on = *block->on;
  for (std::size_t i = 0; i < on.variable_count; ++i)
    if (on.variables[i].name == name) return on.memory + on.variables[i].begin;
  on.bytes += bytes;
  if (on.bytes > Multiprocessor::kShared || on.variable_count == Multiprocessor::kVariables) {
    std::fprintf(
        stderr,
        "CUDA stand-in: %zu bytes of shared memory in %zu variables; a block may have %zu in %zu\n",
        on.bytes, on.variable_count + 1, Multiprocessor::kShared, Multiprocessor::kVariables);
    std::abort();
  }
  on.variables[on.variable_count++] = {name, on.used};
  unsigned char* const begin = on.memory + on.used;
  on.used +=
      (bytes + 2 * Multiprocessor::kApart - 1) / Multiprocessor::kApart * Multiprocessor::kApart;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(begin, bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  // Byte by byte of a volatile: memset() would be watched.
  for (std::size_t i = 0; i < bytes; ++i) static_cast<volatile unsigned char*>(begin)[i] = 0xff;
#else
  std::memset(begin, 0xff, bytes);
#endif
  return begin;
}

// Waits until all threads that are to meet are where this one is. Gives the turn that it was.
TRIESCOPE_UNWATCHED inline unsigned char meet(Meeting meeting) {
  Block& b = *block;
  Thread& me = b.thread[b.current];
  unsigned char& next = me.turn[static_cast<int>(meeting)];
  const unsigned char turn = next;
  next ^= 1;
  char* at = nullptr;
  if (meeting == Meeting::kBarrier) at = b.on->at_barrier + turn;
  if (meeting == Meeting::kWarpBarrier) at = b.on->at_warp_barrier[b.current / kWarp] + turn;
  if (at != nullptr) triescope::test::happens_before(at);
  me.waits_at = meeting;
  me.fibre = b.fibre;
  switch_fibres(b.fibres[b.fibre], b.scheduler);
  if (at != nullptr) triescope::test::happens_after(at);
  return turn;
}

// A thread needs a stack of its own only from its first meeting on: until then one fibre runs thread
// after thread. Sanitizers know a thread by its fibre, so there each has its own.
inline constexpr bool kFibreEach = triescope::test::kSanitized;

TRIESCOPE_UNWATCHED inline void run_threads() {
  Fibre& rest = *block->fibres[block->fibre].rest;
  arrived(rest);
  for (;;) {
    Block& b = *block;
    b.scheduler.stack = rest.left_stack;
    b.scheduler.stack_bytes = rest.left_bytes;
    triescope::test::happens_after(&launch_begin);
    triescope::test::happens_after(b.on->at_end + (b.on->turn ^ 1));
    while (b.started < b.start_end) {
      Thread& me = b.thread[b.current = b.started++];
      (*b.body)();
      me.waits_at = Meeting::kEnd;
      // Otherwise the threads after it were started by others meanwhile.
      if (kFibreEach || me.fibre >= 0) break;
    }
    triescope::test::happens_before(b.on->at_end + b.on->turn);
    switch_fibres(rest, b.scheduler);
  }
}

inline bool is_of_warp(Meeting meeting) {
  return meeting == Meeting::kShuffle || meeting == Meeting::kWarpBarrier;
}

// What the threads [begin, end) wait at, all of them the same.
inline Meeting meeting_of(const Block& b, unsigned begin, unsigned end, const char* all) {
  for (unsigned t = begin + 1; t < end; ++t) {
    if (b.thread[t].waits_at == b.thread[begin].waits_at) continue;
    std::fprintf(
        stderr,
        "CUDA stand-in: thread %u waits at %s, thread %u at %s. All threads of a %s must meet "
        "the same\n",
        begin, to_string(b.thread[begin].waits_at), t, to_string(b.thread[t].waits_at), all);
    std::abort();
  }
  return b.thread[begin].waits_at;
}

// The threads [begin, end), each to its next meeting.
inline void go_on(Block& b, unsigned begin, unsigned end, bool last_first) {
  for (unsigned i = begin; i < end; ++i) {
    b.current = last_first ? begin + (end - 1 - i) : i;
    b.fibre = b.thread[b.current].fibre;
    switch_fibres(b.scheduler, b.fibres[b.fibre]);
  }
}

// The first thread that was not started and those after it, up to `end`, each to its first meeting.
inline void start(Block& b, unsigned end) {
  auto& stacks = b.on->stacks;
  for (b.start_end = end; b.started < end; ++b.fibres_begun) {
    if (b.fibres_begun == stacks.size()) stacks.push_back(std::make_unique<FibreStack>());
    b.fibre = static_cast<int>(b.fibres_begun);
    stacks[b.fibres_begun]->begin(b.fibres[b.fibre], run_threads);
    switch_fibres(b.scheduler, b.fibres[b.fibre]);
  }
}

inline void run_block(Multiprocessor& on, const BlockIndex& index, unsigned threads,
                      const std::function<void()>& body) {
  if (on.threads.size() < threads) {
    on.fibres.resize(threads);
    on.threads.resize(threads);
  }
  std::fill_n(on.threads.begin(), threads, Thread{});
  Block b;
  b.on = &on;
  b.index = index;
  b.fibres = on.fibres.data();
  b.thread = on.threads.data();
  b.threads = threads;
  b.body = &body;
  block = &b;
  on.turn ^= 1;
  on.variable_count = on.used = on.bytes = 0;
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(on.memory, sizeof on.memory);
#endif
  bool last_first = false;
  do {
    for (unsigned warp = 0; warp < threads; warp += kWarp) {
      const unsigned end = std::min(warp + kWarp, threads);
      if (b.started < end) {
        start(b, end);
      } else {
        go_on(b, warp, end, last_first = !last_first);
      }
      while (is_of_warp(meeting_of(b, warp, end, "warp")))
        go_on(b, warp, end, last_first = !last_first);
    }
  } while (meeting_of(b, 0, threads, "block") != Meeting::kEnd);
  block = nullptr;
}

// A launch of blocks of `threads` threads, all of which have ended when it returns. x, y, z: blocks.
inline void run_blocks(unsigned x, unsigned y, unsigned z, unsigned threads,
                       const std::function<void()>& body) {
  triescope::test::happens_before(&launch_begin);
  const std::size_t blocks = std::size_t{x} * y * z;
  for (std::size_t i = blocks; i-- > 0;) {
    const BlockIndex index = {static_cast<unsigned>(i % x), static_cast<unsigned>(i / x % y),
                              static_cast<unsigned>(i / x / y)};
    run_block(multiprocessors[i % 2], index, threads, body);
  }
  for (Multiprocessor& on : multiprocessors)
    for (char& end : on.at_end) triescope::test::happens_after(&end);
}

// What the other thread of a pair gives, `mask` apart in their warp. Of all its threads at once.
TRIESCOPE_UNWATCHED inline std::uint32_t exchange(std::uint32_t value, unsigned mask) {
  Block& b = *block;
  Thread& me = b.thread[b.current];
  const Thread& other = b.thread[b.current ^ mask];
  me.given[me.turn[static_cast<int>(Meeting::kShuffle)]] = value;
  return other.given[meet(Meeting::kShuffle)];
}

}  // namespace cuda_stand_in
