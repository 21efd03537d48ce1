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

// Spins until ready() for at most about `limit`; whether it became ready. Between the loops of one
// forward pass lie a few microseconds, and waking a sleeping thread costs 20 to 50: so a wait is
// first spent awake.
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

// What is left of a worker's share: the worker takes from the front, others from the back.
class alignas(64) Share {
 public:
  struct Piece {
    std::int64_t begin = 0, end = 0;
    bool empty() const { return begin >= end; }
  };

  void set(std::int64_t begin, std::int64_t end) {
    left_.store(join(begin, end), std::memory_order_relaxed);
  }
  // Most of it: the less is left, the smaller a piece, so that little remains to be waited for.
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
        shares(static_cast<std::size_t>(threads)),
        scratch(static_cast<std::size_t>(threads)) {}

  const int size;
  std::vector<Share> shares;  // each set by its worker; empty between loops
  std::vector<Scratch> scratch;
  std::vector<std::jthread> workers;

  // The loop in progress: written before `generation` grows, read after.
  Job job;
  std::int64_t count = 0;
  Split split = Split::kRanges;
  alignas(64) std::atomic<std::uint32_t> generation{0};
  alignas(64) std::atomic<std::int64_t> next{0};
  alignas(64) std::atomic<int> pending{0};
  std::atomic<bool> stop{false};

  void work(int worker) {
    if (split == Split::kTasks) {
      for (std::int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
           i = next.fetch_add(1, std::memory_order_relaxed)) {
        job.call(job.body, i, i + 1, worker);
      }
      return;
    }
    const std::int64_t begin = count * worker / size, end = count * (worker + 1) / size;
    if (split == Split::kPieces) {
      work_in_pieces(begin, end, worker);
    } else if (begin < end) {
      job.call(job.body, begin, end, worker);
    }
  }

  void work_in_pieces(std::int64_t begin, std::int64_t end, int worker) {
    const auto call = [&](const Share::Piece& piece) {
      if (!piece.empty()) job.call(job.body, piece.begin, piece.end, worker);
      return !piece.empty();
    };
    Share& own = shares[static_cast<std::size_t>(worker)];
    own.set(begin, end);
    while (call(own.take())) {
    }
    for (int other = 1; other < size; ++other) {
      Share& share = shares[static_cast<std::size_t>((worker + other) % size)];
      while (call(share.take_over())) {
      }
    }
  }

  void serve(int worker) {
    std::uint32_t seen = 0;
    for (;;) {
      if (!spin_until([&] { return generation.load(std::memory_order_acquire) != seen; })) {
        generation.wait(seen, std::memory_order_acquire);
      }
      ++seen;  // loops come one at a time, and each waits for every worker
      if (stop.load(std::memory_order_relaxed)) return;
      work(worker);
      if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1) pending.notify_one();
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
  state_->generation.fetch_add(1, std::memory_order_release);
  state_->generation.notify_all();
  state_->workers.clear();  // joins
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
  s.pending.store(s.size - 1, std::memory_order_relaxed);
  s.generation.fetch_add(1, std::memory_order_release);
  s.generation.notify_all();
  s.work(0);
  if (spin_until([&] { return s.pending.load(std::memory_order_acquire) == 0; })) return;
  for (int left = s.pending.load(std::memory_order_acquire); left != 0;
       left = s.pending.load(std::memory_order_acquire)) {
    s.pending.wait(left, std::memory_order_acquire);
  }
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
