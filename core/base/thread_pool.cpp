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

struct Scratch {
  void* data = nullptr;
  std::size_t bytes = 0;
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(data); }
};

}  // namespace

struct ThreadPool::State {
  explicit State(int threads) : size(threads), scratch(static_cast<std::size_t>(threads)) {}

  const int size;
  std::vector<Scratch> scratch;
  std::vector<std::jthread> workers;

  // The loop in progress: written before `generation` grows, read after.
  Job job;
  std::int64_t count = 0;
  bool dynamic = false;
  alignas(64) std::atomic<std::uint32_t> generation{0};
  alignas(64) std::atomic<std::int64_t> next{0};
  alignas(64) std::atomic<int> pending{0};
  std::atomic<bool> stop{false};

  void work(int worker) {
    if (dynamic) {
      for (std::int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
           i = next.fetch_add(1, std::memory_order_relaxed)) {
        job.call(job.body, i, i + 1, worker);
      }
      return;
    }
    const std::int64_t begin = count * worker / size, end = count * (worker + 1) / size;
    if (begin < end) job.call(job.body, begin, end, worker);
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

void ThreadPool::run(Job job, std::int64_t count, bool dynamic) {
  if (count <= 0) return;
  State& s = *state_;
  if (s.size == 1 || count == 1) {
    job.call(job.body, 0, count, 0);
    return;
  }
  s.job = job;
  s.count = count;
  s.dynamic = dynamic;
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

int ThreadPool::available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace triescope
