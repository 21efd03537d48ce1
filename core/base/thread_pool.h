// A fixed team of threads for short parallel loops (a layer's work is 20 to 500 microseconds). The
// calling thread is worker 0 and always takes its share; the others spin for a few microseconds
// after a loop, then sleep, so an idle pool costs nothing.
//
// Invariants: a loop returns when every piece has run; what ran where never changes a result
// (callers give pieces that are independent). Loops of one pool do not nest and are started by one
// thread at a time. A body must not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace triescope {

class ThreadPool {
 public:
  // threads >= 1 in all, the caller's included; 0 = one per core this process may use.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // body(begin, end, worker) over size() contiguous shares of [0, count): the same share goes to
  // the same worker each time, so that a thread meets again the memory it read before. A share whose
  // worker has not begun when the caller is done with its own goes to the caller, in every kind of
  // loop: a thread that is kept from running is not waited for.
  template <class Body>
  void for_ranges(std::int64_t count, Body&& body) {
    run({&call_ranges<std::remove_reference_t<Body>>, &body}, count, Split::kRanges);
  }
  // body(begin, end, worker) over contiguous pieces of [0, count), several to a worker: each starts
  // on the share that for_ranges() gives it, in ever smaller pieces, and a worker that is done takes
  // over from those that are not. For even work on uneven cores, or on cores that other programs
  // use; an index should be worth a tenth of a microsecond. count < 2^31.
  template <class Body>
  void for_pieces(std::int64_t count, Body&& body) {
    run({&call_ranges<std::remove_reference_t<Body>>, &body}, count, Split::kPieces);
  }
  // body(index, worker) for every index of [0, count), each taken by whoever is free: for uneven
  // pieces.
  template <class Body>
  void for_tasks(std::int64_t count, Body&& body) {
    run({&call_tasks<std::remove_reference_t<Body>>, &body}, count, Split::kTasks);
  }

  // Memory of one worker for the length of a loop's piece: at least `bytes`, 64-byte aligned,
  // contents undefined. Throws std::bad_alloc; ask before the loop (for every worker) where it may
  // be large.
  void* scratch(int worker, std::size_t bytes);
  // A number beside a worker's scratch, 0 at first. Whoever leaves something in the scratch from one
  // piece of a loop to the next says so here.
  std::uint64_t& scratch_note(int worker);

  // One per core in the process's affinity mask.
  static int available_cores();

 private:
  enum class Split : std::uint8_t { kRanges, kPieces, kTasks };
  struct Job {
    void (*call)(const void* body, std::int64_t begin, std::int64_t end, int worker) = nullptr;
    const void* body = nullptr;
  };
  template <class Body>
  static void call_ranges(const void* body, std::int64_t begin, std::int64_t end, int worker) {
    (*static_cast<const Body*>(body))(begin, end, worker);
  }
  template <class Body>
  static void call_tasks(const void* body, std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t i = begin; i < end; ++i) (*static_cast<const Body*>(body))(i, worker);
  }
  void run(Job job, std::int64_t count, Split split);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace triescope
