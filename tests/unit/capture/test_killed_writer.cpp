// A killed program leaves a capture that opens and lacks at most the last second.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <random>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include "tests/unit/capture/answers.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test {
namespace {

// What the child has handed in, and when by the recorder's clock.
struct Progress {
  std::int64_t us;
  Tick tick;
};

// The promise is about the recorder's own clock: a row that was handed in a second ago by that
// clock is on disk, because the recorder holds the decoder back while an older one waits. So the
// test gives it a clock that counts the phases handed in, and asks by that clock; how fast the
// machine is, or how long it let the child stand still, does not matter. (A process that stands
// still records nothing either.) The child says through a pipe what it has handed in, and the
// parent kills it after a number of such words drawn at random, wherever its two threads then are.
TEST_CASE(
    "capture: after each of 50 kills at random moments it opens and lacks at most the last "
    "second") {
  if (kThreadSanitizer)
    TRIESCOPE_SKIP("the thread sanitizer does not support threads in a forked child");
  constexpr Tick kTicksAWord = 25;
  TempDir dir;
  std::mt19937 random(20240607);
  int with_rows = 0, kills_with_debt = 0;
  for (int kill_number = 0; kill_number < 50; ++kill_number) {
    INFO("kill " << kill_number);
    const std::string path = dir.path() / ("run" + std::to_string(kill_number) + ".tscap");
    // From phases so short that memory for waiting rows runs out first, to phases so long that
    // their age is what stops the decoder.
    constexpr std::int64_t kPhaseUs[] = {50, 400, 1500, 6000};
    const std::int64_t phase_us = kPhaseUs[kill_number % 4];
    const auto words = static_cast<int>(random() % 300);
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(pipe_ends[0]);
      std::atomic<std::int64_t> now_us = 0;
      WriterOptions options;
      options.now = [&] {
        return std::chrono::steady_clock::time_point(std::chrono::microseconds(now_us.load()));
      };
      const auto recorder = open_recorder(path, options);
      const auto tell = [&](Tick tick) {
        const Progress progress{now_us.load(), tick};
        if (::write(pipe_ends[1], &progress, sizeof progress) != sizeof progress) ::_exit(3);
      };
      tell(-1);
      record_sample(*recorder, 10'000'000, 4, [&](Tick tick) {
        if (tick % kTicksAWord == 0) tell(tick);
        now_us += phase_us;
      });
      ::_exit(0);
    }
    ::close(pipe_ends[1]);
    std::vector<Progress> told;
    const auto listen = [&] {
      Progress progress{};
      if (::read(pipe_ends[0], &progress, sizeof progress) != sizeof progress) return false;
      told.push_back(progress);
      return true;
    };
    for (int word = 0; word <= words; ++word) REQUIRE(listen());
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    while (listen()) {
    }
    ::close(pipe_ends[0]);

    auto c = Capture::open(path);
    CHECK(c->status() == RunStatus::kStopped);
    CHECK(c->status_message().find("interrupted") != std::string::npos);
    // What was handed in more than a second before the child's last word is there.
    Tick owed = -1;
    for (const Progress& p : told)
      if (p.us < told.back().us - 1'000'000) owed = std::max(owed, p.tick);
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
  CHECK(kills_with_debt >= 20);
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
