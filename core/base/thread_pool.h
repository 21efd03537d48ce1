// A fixed team of threads for short parallel loops (a layer's work takes 20 to 500 microseconds).
// The calling thread is worker 0 and always takes its share. The others spin for a few microseconds
// after a loop and then sleep, so an idle pool costs nothing.
//
// Invariants: a loop returns when every piece has run, and which worker ran a piece never changes a
// result (callers give independent pieces). Loops of one pool do not nest, and one thread at a time
// starts them. A body must not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace triescope {

class ThreadPool {
 public:
  // threads >= 1 in all, the caller included; 0 = one for each core that this process may use.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls body(begin, end, worker) over size() contiguous shares of [0, count). The same share goes
  // to the same worker each time, so that a thread finds the memory that it read before. A share
  // whose worker has not begun when the caller has finished its own goes to the caller, in every
  // kind of loop: a thread that is kept from running is not waited for.
  template <class Body>
  void for_ranges(std::int64_t count, Body&& body) {
    run({&call_ranges<std::remove_reference_t<Body>>, &body}, count, Split::kRanges);
  }
  // Calls body(begin, end, worker) over contiguous pieces of [0, count), several for each worker.
  // Each worker starts on the share that for_ranges() gives it, in ever smaller pieces, and then
  // takes over pieces from workers that are not done. For even work on uneven cores, or on cores
  // that other programs use; an index should be worth a tenth of a microsecond. count < 2^31.
  template <class Body>
  void for_pieces(std::int64_t count, Body&& body) {
    run({&call_ranges<std::remove_reference_t<Body>>, &body}, count, Split::kPieces);
  }
  // Calls body(index, worker) for every index of [0, count); any free worker takes the next. For
  // uneven pieces.
  template <class Body>
  void for_tasks(std::int64_t count, Body&& body) {
    run({&call_tasks<std::remove_reference_t<Body>>, &body}, count, Split::kTasks);
  }

  // A worker's memory for one piece of a loop: at least `bytes`, 64-byte aligned, contents
  // undefined. Throws std::bad_alloc; if it may be large, ask before the loop (for every worker).
  void* scratch(int worker, std::size_t bytes);
  // A number beside a worker's scratch, initially 0. Code that leaves something in the scratch from
  // one piece to the next marks it here.
  std::uint64_t& scratch_note(int worker);

  // One for each core in the process's affinity mask.
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
