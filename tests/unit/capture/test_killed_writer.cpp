// A killed program leaves a capture that opens and lacks at most the last second.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/unit/capture/answers.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;  // which does not support threads in a forked child
#else
constexpr bool kThreadSanitizer = false;
#endif

struct Progress {
  std::int64_t us;  // CLOCK_MONOTONIC, the same in parent and child
  Tick tick;
};

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TEST_CASE(
    "capture: after each of 50 kills at random moments it opens and lacks at most the last "
    "second") {
  if (kThreadSanitizer)
    TRIESCOPE_SKIP("the thread sanitizer does not support threads in a forked child");
  TempDir dir;
  std::mt19937 random(20240607);
  int with_rows = 0, kills_with_debt = 0;
  for (int kill_number = 0; kill_number < 50; ++kill_number) {
    INFO("kill " << kill_number);
    const std::string path = dir.path() / ("run" + std::to_string(kill_number) + ".tscap");
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(pipe_ends[0]);
      ::fcntl(pipe_ends[1], F_SETPIPE_SZ, 1 << 20);
      const auto recorder = open_recorder(path);
      const auto tell = [&](Tick tick) {
        const Progress progress{now_us(), tick};
        if (::write(pipe_ends[1], &progress, sizeof progress) != sizeof progress) ::_exit(3);
      };
      tell(-1);
      record_sample(*recorder, 10'000'000, 4, [&](Tick tick) {
        if (tick % 25 == 0) tell(tick);
      });
      ::_exit(0);
    }
    ::close(pipe_ends[1]);
    // The kill falls anywhere from the first moment after the file exists to 1.5 s later.
    Progress progress{};
    std::vector<Progress> told;
    REQUIRE(::read(pipe_ends[0], &progress, sizeof progress) == sizeof progress);
    const std::int64_t kill_at = now_us() + static_cast<std::int64_t>(random() % 1'500'000);
    ::fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
    const auto listen = [&] {
      while (::read(pipe_ends[0], &progress, sizeof progress) == sizeof progress)
        told.push_back(progress);
    };
    while (now_us() < kill_at) {
      listen();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::int64_t killed_us = now_us();
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    listen();
    ::close(pipe_ends[0]);

    auto c = Capture::open(path);
    CHECK(c->status() == RunStatus::kStopped);
    CHECK(c->status_message().find("interrupted") != std::string::npos);
    // What was recorded more than a second before the kill is there.
    Tick owed = -1;
    for (const Progress& p : told)
      if (p.us < killed_us - 1'000'000) owed = std::max(owed, p.tick);
    CHECK(c->end_tick() > owed);
    kills_with_debt += owed >= 0;
    if (c->end_tick() > 0) {
      ++with_rows;
      CHECK(c->nodes_at(c->end_tick()).size() > 0);
      CHECK(c->node_at(0, c->end_tick()).state == NodeState::kLive);
      CHECK(c->run().method == "beam");
    }
    c.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  }
  CHECK(with_rows >= 25);
  CHECK(kills_with_debt >= 5);
}

TEST_CASE("capture: a recorder that is dropped before finish leaves a stopped run") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  {
    const auto recorder = open_recorder(path);
    record_sample(*recorder, 5, 2, {}, false);
  }
  const auto c = Capture::open(path);
  CHECK(c->status() == RunStatus::kStopped);
  CHECK(c->end_tick() == 25);
}

}  // namespace
}  // namespace triescope::test
