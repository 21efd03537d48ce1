// A block of CUDA threads on the CPU: each a fibre. A warp goes on alone until it meets a barrier of
// the block, its threads taking turns at shuffles and barriers of the warp. What a GPU would punish is
// found:
//
//   threads of a block that do not all meet the same barriers, of a   the program ends, and says so
//   warp that do not meet the same shuffles and barriers
//   reads and writes that no barrier keeps apart, of shared and       ThreadSanitizer: nothing else
//   of global memory, within a block                                  orders two threads of a block
//   reads and writes beyond shared and global memory                  AddressSanitizer
//
// A shuffle orders nothing, as CUDA says of it. The order of turns changes from one to the next, and
// blocks run from the last to the first, so that most of what relies on an order computes something
// else. Not found: races between blocks, and reads of shared memory that was never written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "tests/support/fibre.h"

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

inline constexpr unsigned kWarp = 32;

struct Thread {
  int fibre = -1;  // that it waits on; -1 = has met nothing
  Meeting waits_at = Meeting::kNone;
  // Its next meeting of each kind: in turn 0 and 1, since nobody is two meetings ahead.
  unsigned char turn[static_cast<int>(Meeting::kEnd) + 1] = {};
  std::uint32_t given[2] = {};   // to its shuffles
  char at_warp_barrier[2] = {};  // of a warp's first thread, for ThreadSanitizer
};

// Plain arrays: what all threads use in turn is for no sanitizer to watch, and a container's own
// functions would be watched.
struct Block {
  Fibre scheduler = triescope::test::this_place();
  Fibre* fibres = nullptr;                           // [threads], of which fibres_begun are
  Thread* thread = nullptr;                          // [threads]
  unsigned threads = 0, started = 0, start_end = 0;  // to be started now: [started, start_end)
  std::size_t fibres_begun = 0;
  unsigned current = 0;  // the thread that runs
  int fibre = 0;         // on this fibre
  const std::function<void()>* body = nullptr;
  char begin = 0, end = 0, at_barrier[2] = {};  // for ThreadSanitizer
};
inline Block* block = nullptr;

// Waits until all threads that are to meet are where this one is. Gives the turn that it was.
TRIESCOPE_UNWATCHED inline unsigned char meet(Meeting meeting) {
  Block& b = *block;
  Thread& me = b.thread[b.current];
  unsigned char& next = me.turn[static_cast<int>(meeting)];
  const unsigned char turn = next;
  next ^= 1;
  char* at = nullptr;
  if (meeting == Meeting::kBarrier) at = b.at_barrier + turn;
  if (meeting == Meeting::kWarpBarrier)
    at = b.thread[b.current / kWarp * kWarp].at_warp_barrier + turn;
  if (at != nullptr) triescope::test::happens_before(at);
  me.waits_at = meeting;
  me.fibre = b.fibre;
  switch_fibres(b.fibres[b.fibre], b.scheduler);
  if (at != nullptr) triescope::test::happens_after(at);
  return turn;
}

// A thread needs a stack of its own only from its first meeting on: until then one fibre runs thread
// after thread. Sanitizers know a thread by its fibre, so there each has its own.
inline constexpr bool kFibreEach = TRIESCOPE_ASAN || TRIESCOPE_TSAN;

TRIESCOPE_UNWATCHED inline void run_threads() {
  Block& b = *block;
  arrived(b.fibres[b.fibre], &b.scheduler);
  triescope::test::happens_after(&b.begin);
  while (b.started < b.start_end) {
    Thread& me = b.thread[b.current = b.started++];
    (*b.body)();
    me.waits_at = Meeting::kEnd;
    // Otherwise the threads after it were started by others meanwhile.
    if (kFibreEach || me.fibre >= 0) break;
  }
  triescope::test::happens_before(&b.end);
  Fibre over;  // nobody comes back here
  switch_fibres(over, b.scheduler, /*for_ever=*/true);
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
  static std::vector<std::unique_ptr<FibreStack>> stacks;  // for all blocks, one after another
  for (b.start_end = end; b.started < end; ++b.fibres_begun) {
    if (b.fibres_begun == stacks.size()) stacks.push_back(std::make_unique<FibreStack>());
    b.fibre = static_cast<int>(b.fibres_begun);
    stacks[b.fibres_begun]->begin(b.fibres[b.fibre], run_threads);
    switch_fibres(b.scheduler, b.fibres[b.fibre]);
  }
}

inline void run_block(unsigned threads, const std::function<void()>& body) {
  std::vector<Fibre> fibres(threads);
  std::vector<Thread> all(threads);
  Block b;
  b.fibres = fibres.data();
  b.thread = all.data();
  b.threads = threads;
  b.body = &body;
  block = &b;
  triescope::test::happens_before(&b.begin);
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
  triescope::test::happens_after(&b.end);
  block = nullptr;
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
