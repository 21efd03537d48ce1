#include <doctest/doctest.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "core/base/thread_pool.h"

namespace triescope {
namespace {

TEST_CASE(
    "thread pool: every index of a loop is visited once, by workers within range, whatever the count and the threads") {
  for (int threads = 1; threads <= 5; ++threads) {
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (const std::int64_t count : {0, 1, 2, 3, 7, 100}) {
      for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        std::atomic<bool> in_range{true};
        pool.for_tasks(count, [&](std::int64_t i, int worker) {
          ++visits[static_cast<std::size_t>(i)];
          if (worker < 0 || worker >= threads) in_range = false;
        });
        pool.for_ranges(count, [&](std::int64_t begin, std::int64_t end, int worker) {
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
          if (worker < 0 || worker >= threads) in_range = false;
        });
        pool.for_pieces(count, [&](std::int64_t begin, std::int64_t end, int worker) {
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
          if (worker < 0 || worker >= threads || begin >= end) in_range = false;
        });
        REQUIRE(in_range);
        for (const auto& v : visits) REQUIRE(v == 3);
      }
    }
  }
}

TEST_CASE("thread pool: a worker that is held up is left with the piece it has begun") {
  constexpr std::int64_t kCount = 64;
  ThreadPool pool(2);
  std::vector<std::atomic<int>> visits(kCount);
  std::atomic<std::int64_t> others{0}, held{0};
  std::atomic<bool> begun{false};
  pool.for_pieces(kCount, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    if (worker == 1 && !begun.exchange(true)) {
      held = end - begin;
      while (others.load() < kCount - held) std::this_thread::yield();
    } else {
      while (!begun) std::this_thread::yield();  // its share is not there before
      others += end - begin;
    }
  });
  for (const auto& v : visits) CHECK(v == 1);
  CHECK(held > 0);
  CHECK(held < kCount / 2);  // less than its share
}

TEST_CASE("thread pool: a pool that slept wakes up for the next loop") {
  ThreadPool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<int> sum{0};
    pool.for_ranges(3, [&](std::int64_t begin, std::int64_t end, int) {
      sum += static_cast<int>(end - begin);
    });
    CHECK(sum == 3);
  }
}

TEST_CASE("thread pool: scratch is aligned, grows, and is each worker's own") {
  ThreadPool pool(2);
  void* a = pool.scratch(0, 100);
  void* b = pool.scratch(1, 100);
  CHECK(a != b);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
  CHECK(pool.scratch(0, 50) == a);
  std::memset(a, 1, 128);
  const auto* grown = static_cast<unsigned char*>(pool.scratch(0, 100000));
  CHECK(reinterpret_cast<std::uintptr_t>(grown) % 64 == 0);
  // Rounded up to whole lines, and writable to its end.
  for (const std::size_t bytes : {1u, 63u, 65u, 200001u}) {
    ThreadPool fresh(1);
    void* memory = fresh.scratch(0, bytes);
    REQUIRE(memory != nullptr);
    std::memset(memory, 2, bytes);
    CHECK(malloc_usable_size(memory) >= bytes);
  }
  for (const std::size_t bytes : {100u, 1000u, 50000u}) {
    pool.scratch(1, bytes);
    CHECK(malloc_usable_size(pool.scratch(1, bytes)) >= bytes);
  }
}

TEST_CASE("thread pool: a pool of no number of threads has one for each core") {
  CHECK(ThreadPool(0).size() == ThreadPool::available_cores());
  CHECK(ThreadPool().size() == ThreadPool::available_cores());
  CHECK(ThreadPool::available_cores() >= 1);
}

TEST_CASE("thread pool: the shares of a loop are even, in order, and the same worker's each time") {
  ThreadPool pool(4);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::int64_t, std::int64_t>> shares(4, {-1, -1});
    std::atomic<int> begun{0};
    pool.for_ranges(10, [&](std::int64_t begin, std::int64_t end, int worker) {
      shares[static_cast<std::size_t>(worker)] = {begin, end};
      ++begun;
      while (begun < 4) std::this_thread::yield();  // nobody comes too late
    });
    CHECK(shares ==
          std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 2}, {2, 5}, {5, 7}, {7, 10}});
  }
}

#if !defined(__SANITIZE_THREAD__)  // which holds signals back
std::atomic<bool> held{false}, let_go{false};

void hold(int) {
  held = true;
  while (!let_go) {
  }
}

TEST_CASE("thread pool: a thread that is kept from running is not waited for, and comes back") {
  ThreadPool pool(2);
  pthread_t other = pthread_self();
  const auto with_both = [&] {
    std::atomic<int> begun{0};
    pool.for_ranges(2, [&](std::int64_t, std::int64_t, int worker) {
      if (worker == 1) other = pthread_self();
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    CHECK(begun == 2);
  };
  with_both();
  REQUIRE(!pthread_equal(other, pthread_self()));
  struct sigaction action = {}, before = {};
  action.sa_handler = hold;
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
  REQUIRE(pthread_kill(other, SIGUSR1) == 0);
  while (!held) std::this_thread::yield();

  const std::thread::id here = std::this_thread::get_id();
  std::vector<int> visits(30);  // by this thread alone
  const auto visit = [&](std::int64_t begin, std::int64_t end, int worker) {
    CHECK(worker == 0);
    REQUIRE(std::this_thread::get_id() == here);
    for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  };
  for (int round = 0; round < 10; ++round) {
    pool.for_ranges(30, visit);
    pool.for_pieces(30, visit);
    pool.for_tasks(30, [&](std::int64_t i, int worker) { visit(i, i + 1, worker); });
  }
  for (const int count : visits) CHECK(count == 30);

  let_go = true;
  with_both();
  sigaction(SIGUSR1, &before, nullptr);
}
#endif

TEST_CASE("thread pool: one piece of work stays with the thread that asks") {
  ThreadPool pool(3);
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id there;
  pool.for_ranges(1, [&](std::int64_t, std::int64_t, int) { there = std::this_thread::get_id(); });
  CHECK(there == here);
  pool.for_tasks(1, [&](std::int64_t, int worker) {
    CHECK(worker == 0);
    there = std::this_thread::get_id();
  });
  CHECK(there == here);
}

}  // namespace
}  // namespace triescope
