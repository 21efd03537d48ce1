#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "core/base/thread_pool.h"

namespace triescope {
namespace {

TEST_CASE(
    "every index of a loop is visited once, by workers within range, whatever the count and the "
    "threads") {
  for (int threads = 1; threads <= 5; ++threads) {
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (const std::int64_t count : {0, 1, 2, 3, 7, 100}) {
      for (int round = 0; round < 20; ++round) {
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
        REQUIRE(in_range);
        for (const auto& v : visits) REQUIRE(v == 2);
      }
    }
  }
}

TEST_CASE("a pool that slept wakes up for the next loop") {
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

TEST_CASE("scratch is aligned, grows, and is each worker's own") {
  ThreadPool pool(2);
  void* a = pool.scratch(0, 100);
  void* b = pool.scratch(1, 100);
  CHECK(a != b);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
  CHECK(pool.scratch(0, 50) == a);
  CHECK(pool.scratch(0, 100000) != nullptr);
}

}  // namespace
}  // namespace triescope
