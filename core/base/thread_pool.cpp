#include "core/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

namespace triescope {

namespace {

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Spins until ready() for at most about `limit`, and returns whether it became ready. A few
// microseconds lie between the loops of a forward, and waking a sleeping thread costs 20 to 50, so
// a wait begins awake.
constexpr auto kSpin = std::chrono::microseconds(60);

template <class Ready>
bool spin_until(Ready ready) {
  for (int i = 0; i < 64; ++i) {
    if (ready()) return true;
    pause_briefly();
  }
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// The rest of a worker's share of a loop in pieces: the worker takes from the front, others from
// the back.
class Share {
 public:
  struct Piece {
    std::int64_t begin = 0, end = 0;
    bool empty() const { return begin >= end; }
  };

  void set(const Piece& all) { left_.store(join(all.begin, all.end), std::memory_order_relaxed); }
  // Takes most of the rest: the less is left, the smaller a piece, so that little remains to wait
  // for.
  Piece take() {
    return claim([](std::int64_t count) { return count - count / 4; }, true);
  }
  Piece take_over() {
    return claim([](std::int64_t count) { return (count + 1) / 2; }, false);
  }

 private:
  static std::uint64_t join(std::int64_t begin, std::int64_t end) {
    return static_cast<std::uint64_t>(begin) << 32 | static_cast<std::uint64_t>(end);
  }
  template <class Size>
  Piece claim(const Size& size, bool front) {
    std::uint64_t left = left_.load(std::memory_order_relaxed);
    for (;;) {
      const auto begin = static_cast<std::int64_t>(left >> 32),
                 end = static_cast<std::int64_t>(left & 0xffffffff);
      if (begin >= end) return {};
      const std::int64_t count = size(end - begin);
      const std::uint64_t rest = front ? join(begin + count, end) : join(begin, end - count);
      if (left_.compare_exchange_weak(left, rest, std::memory_order_relaxed))
        return front ? Piece{begin, begin + count} : Piece{end - count, end};
    }
  }

  std::atomic<std::uint64_t> left_{0};
};

// A worker's place in a loop. The worker writes it and others read it.
struct alignas(64) Seat {
  // 2 n: not at work in loop n, or done with it; 2 n - 1: at work in loop n. A worker that is not
  // at work when the caller has done everything else is too late: the caller takes its share.
  std::atomic<std::uint32_t> turn{0};
  Share share;  // for loops in pieces; empty between loops

  static std::uint32_t at_work(std::uint32_t loop) { return 2 * loop - 1; }
  static std::uint32_t done(std::uint32_t loop) { return 2 * loop; }
  // Only one of the two succeeds: the worker's join() or the caller's close().
  bool join(std::uint32_t loop) { return pass(loop, at_work(loop)); }
  bool close(std::uint32_t loop) { return pass(loop, done(loop)); }
  void leave(std::uint32_t loop) {
    turn.store(done(loop), std::memory_order_release);
    turn.notify_one();
  }
  void wait_until_done(std::uint32_t loop) const {
    if (spin_until([&] { return turn.load(std::memory_order_acquire) == done(loop); })) return;
    for (std::uint32_t now = turn.load(std::memory_order_acquire); now != done(loop);
         now = turn.load(std::memory_order_acquire))
      turn.wait(now, std::memory_order_acquire);
  }

 private:
  bool pass(std::uint32_t loop, std::uint32_t to) {
    std::uint32_t before = done(loop - 1);
    return turn.compare_exchange_strong(before, to, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }
};

struct alignas(64) Scratch {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::uint64_t note = 0;
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(data); }
};

}  // namespace

struct ThreadPool::State {
  explicit State(int threads)
      : size(threads),
        seats(static_cast<std::size_t>(threads)),
        scratch(static_cast<std::size_t>(threads)) {}

  const int size;
  std::vector<Seat> seats;
  std::vector<Scratch> scratch;
  std::vector<std::jthread> workers;

  // The current loop. It is written before its number, and read by workers that joined it.
  alignas(64) std::atomic<std::uint32_t> loop{0};
  Job job;
  std::int64_t count = 0;
  Split split = Split::kRanges;
  alignas(64) std::atomic<std::int64_t> next{0};
  std::atomic<bool> stop{false};

  Share::Piece share_of(int worker) const {
    return {count * worker / size, count * (worker + 1) / size};
  }
  bool call(const Share::Piece& piece, int worker) const {
    if (!piece.empty()) job.call(job.body, piece.begin, piece.end, worker);
    return !piece.empty();
  }

  void work(int worker) {
    if (split == Split::kRanges) {
      call(share_of(worker), worker);
    } else if (split == Split::kPieces) {
      work_in_pieces(worker);
    } else {
      for (std::int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
           i = next.fetch_add(1, std::memory_order_relaxed))
        call({i, i + 1}, worker);
    }
  }

  void work_in_pieces(int worker) {
    Share& own = seats[static_cast<std::size_t>(worker)].share;
    own.set(share_of(worker));
    while (call(own.take(), worker)) {
    }
    for (int other = 1; other < size; ++other) {
      Share& share = seats[static_cast<std::size_t>((worker + other) % size)].share;
      while (call(share.take_over(), worker)) {
      }
    }
  }

  // The caller's work, as worker 0, to the end of the loop.
  void work_as_caller(std::uint32_t number) {
    work(0);
    for (int worker = 1; worker < size; ++worker)
      if (seats[static_cast<std::size_t>(worker)].close(number) && split != Split::kTasks)
        call(share_of(worker), 0);
    for (int worker = 1; worker < size; ++worker)
      seats[static_cast<std::size_t>(worker)].wait_until_done(number);
  }

  void serve(int worker) {
    Seat& seat = seats[static_cast<std::size_t>(worker)];
    std::uint32_t seen = 0;
    for (;;) {
      if (!spin_until([&] { return loop.load(std::memory_order_acquire) != seen; }))
        loop.wait(seen, std::memory_order_acquire);
      const std::uint32_t number = loop.load(std::memory_order_acquire);
      if (number == seen) continue;  // woken without reason
      if (stop.load(std::memory_order_relaxed)) return;
      seen = number;
      if (!seat.join(number)) continue;  // too late
      work(worker);
      seat.leave(number);
    }
  }
};

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = available_cores();
  state_ = std::make_unique<State>(threads);
  State* state = state_.get();
  for (int worker = 1; worker < threads; ++worker) {
    state->workers.emplace_back([state, worker] { state->serve(worker); });
  }
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_relaxed);
  state_->loop.fetch_add(1, std::memory_order_release);
  state_->loop.notify_all();
  state_->workers.clear();  // joins the threads
}

int ThreadPool::size() const { return state_->size; }

void ThreadPool::run(Job job, std::int64_t count, Split split) {
  if (count <= 0) return;
  State& s = *state_;
  if (s.size == 1 || count == 1) {
    job.call(job.body, 0, count, 0);
    return;
  }
  s.job = job;
  s.count = count;
  s.split = split;
  s.next.store(0, std::memory_order_relaxed);
  const std::uint32_t number = s.loop.fetch_add(1, std::memory_order_release) + 1;
  s.loop.notify_all();
  s.work_as_caller(number);
}

void* ThreadPool::scratch(int worker, std::size_t bytes) {
  Scratch& s = state_->scratch[static_cast<std::size_t>(worker)];
  if (s.bytes < bytes) {
    const std::size_t size = (std::max(bytes, s.bytes * 2) + 63) / 64 * 64;
    std::free(s.data);
    s.bytes = 0;
    s.data = std::aligned_alloc(64, size);
    if (s.data == nullptr) throw std::bad_alloc();
    s.bytes = size;
  }
  return s.data;
}

std::uint64_t& ThreadPool::scratch_note(int worker) {
  return state_->scratch[static_cast<std::size_t>(worker)].note;
}

int ThreadPool::available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace triescope
