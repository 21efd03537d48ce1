// A run on the session thread is refused memory in the middle of a phase: it waits, and every
// command acts as documented.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <atomic>

#include "core/capture/capture.h"
#include "tests/support/paths.h"
#include "tests/support/short_of_memory.h"
#include "tests/unit/app/session_harness.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app::test_session_memory {
namespace {

using capture::make_tick;
using capture::Phase;

struct ShortMemory {
  std::atomic<int> refusals = 0;  // how many of the next forwards are refused
  ModelLoader loader() {
    return [this](const std::string& path, const LoadOptions& options, const ProgressSink& progress,
                  std::stop_token stop) -> std::unique_ptr<Model> {
      return std::make_unique<test::ShortModel>(
          load_model(path, options, progress, std::move(stop)), [this](const std::string& what) {
            if (what != "begin" || refusals == 0) return;
            --refusals;
            test::refuse_memory(what);
          });
    };
  }
};

struct Waiting : ShortMemory, SessionHarness {
  Waiting() : SessionHarness(loader()) {}

  test::TempDir folder;
  const std::string model = write_tiny_model(folder.path(), "tiny");

  std::string path(const std::string& name) const {
    return (folder.path() / (name + ".tscap")).string();
  }
  void start(const std::string& name) {
    RunRequest request;
    request.model = model;
    request.method = "greedy";
    request.settings = {{"eos_token_id", {-1}}};
    request.prompt = "1, 2, 3";
    request.max_new_tokens = 8;
    thread.start(request, path(name), /*run_at_once=*/false);
    settle();
    REQUIRE(thread.status()->state == LiveState::kPaused);
  }
  // Starts a run that is refused memory in the forward of its step 2.
  void wait_in_step_2(const std::string& name = "run", int times = 1) {
    start(name);
    thread.step();
    thread.step();
    settle();
    REQUIRE(tick() == make_tick(2, Phase::kDraft));
    refusals = times;
    thread.step();
    settle();
    check_waits();
  }
  void check_waits() {
    CHECK(refused() == "no memory to begin");
    CHECK(thread.status()->state == LiveState::kPaused);
    CHECK(thread.status()->pause_reason == "out of memory");
    CHECK(tick() == make_tick(2, Phase::kForward));
  }
  std::string refused() const { return thread.status()->memory_refused; }
  capture::Tick tick() const { return thread.status()->next_tick; }
  std::vector<std::int32_t> text(const std::string& name) const {
    return capture::Capture::open(path(name))->sequences()[0].tokens;
  }
  void run_to_end() {
    thread.run();
    REQUIRE(until([](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  }
};

TEST_CASE_FIXTURE(Waiting, "memory: what was done before can be read, and trying again goes on") {
  wait_in_step_2();
  CHECK(errors() == 0);
  CHECK(last_notice() == "out of memory: no memory to begin");
  const auto file = capture::Capture::open(path("run"));
  CHECK(file->status() == capture::RunStatus::kRunning);
  CHECK(file->end_tick() == make_tick(2, Phase::kForward));
  thread.try_again();
  settle();
  CHECK(refused() == "");
  CHECK(thread.status()->pause_reason == "");
  CHECK(last_notice() == "there was memory again: the run goes on");
  CHECK(tick() == make_tick(3, Phase::kDraft));  // the step that the command asked for
  run_to_end();
  start("plain");
  run_to_end();
  CHECK(text("run") == text("plain"));
}

TEST_CASE_FIXTURE(Waiting, "memory: a phase, a step, a run each do what they ask for") {
  wait_in_step_2("phase");
  thread.step_phase();
  settle();
  CHECK(tick() == make_tick(2, Phase::kAccept));
  wait_in_step_2("step");
  thread.step();
  settle();
  CHECK(tick() == make_tick(3, Phase::kDraft));
  wait_in_step_2("run");
  run_to_end();
  wait_in_step_2("run to");
  thread.run_to(make_tick(4, Phase::kAccept));
  settle();
  CHECK(tick() == make_tick(4, Phase::kAccept));
  CHECK(errors() == 0);
}

TEST_CASE_FIXTURE(Waiting, "memory: a run that is refused on its way goes on when it tries again") {
  start("run");
  refusals = 1;
  thread.run();
  REQUIRE(until([&](const LiveStatus& s) { return !s.memory_refused.empty(); }));
  CHECK(tick() == make_tick(0, Phase::kForward));  // in prefill
  CHECK(thread.status()->state == LiveState::kPaused);
  CHECK(thread.status()->progress == "");
  thread.try_again();
  REQUIRE(until([](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  settle();
  start("plain");
  run_to_end();
  CHECK(text("run") == text("plain"));
}

TEST_CASE_FIXTURE(Waiting, "memory: where it is refused again the run waits again") {
  wait_in_step_2("run", 4);
  thread.try_again();
  settle();
  check_waits();
  thread.run();
  settle();
  check_waits();
  thread.step_phase();
  settle();
  check_waits();
  thread.step_phase();
  settle();
  CHECK(tick() == make_tick(2, Phase::kAccept));
  thread.try_again();  // nothing waits, so nothing happens
  settle();
  CHECK(tick() == make_tick(2, Phase::kAccept));
  CHECK(thread.status()->state == LiveState::kPaused);
}

TEST_CASE_FIXTURE(Waiting, "memory: a stop, another run or a branch end the run that waits") {
  wait_in_step_2("stopped");
  thread.stop();
  settle();
  CHECK(thread.status()->state == LiveState::kDone);
  CHECK(refused() == "");
  CHECK(capture::Capture::open(path("stopped"))->status() == capture::RunStatus::kStopped);
  wait_in_step_2("left");
  start("next");
  CHECK(capture::Capture::open(path("left"))->status() == capture::RunStatus::kStopped);
  run_to_end();
  CHECK(text("next").size() == 8);
  wait_in_step_2("before");
  thread.branch(1, 7, path("branch"));
  settle();
  CHECK(errors() == 0);
  CHECK(capture::Capture::open(path("before"))->status() == capture::RunStatus::kStopped);
  run_to_end();
  CHECK(text("branch").at(1) == 7);
}

TEST_CASE_FIXTURE(Waiting, "memory: breakpoints that are set while it waits hold") {
  wait_in_step_2();
  thread.set_breakpoints({{.kind = BreakKind::kStep, .threshold = 4}});
  settle();
  check_waits();
  thread.run();
  settle();
  CHECK(tick() == make_tick(5, Phase::kDraft));
  CHECK(thread.status()->pause_reason != "");
  CHECK(refused() == "");
}

TEST_CASE_FIXTURE(Waiting,
                  "memory: a run whose recording is refused some waits, and loses nothing") {
  start("run");
  sqlite3_hard_heap_limit64(1);  // SQLite refuses every new allocation
  thread.run();
  const auto waits = [&] {
    REQUIRE(until([&](const LiveStatus& s) { return !s.memory_refused.empty(); }));
    settle();
    CHECK(thread.status()->state == LiveState::kPaused);
    CHECK(refused() ==
          "the recording found no room; nothing of it is lost. Close other programs, then go on");
  };
  waits();
  thread.try_again();
  settle();
  waits();
  sqlite3_hard_heap_limit64(0);
  run_to_end();
  settle();
  CHECK(errors() == 0);
  start("plain");
  run_to_end();
  CHECK(text("run") == text("plain"));
  const auto file = capture::Capture::open(path("run")),
             plain = capture::Capture::open(path("plain"));
  CHECK(file->status() == capture::RunStatus::kDone);
  CHECK(file->nodes_at(file->end_tick()).size() == plain->nodes_at(plain->end_tick()).size());
}

TEST_CASE("memory: the program may end while a run waits") {
  test::TempDir folder;
  const std::string path = (folder.path() / "run.tscap").string();
  ShortMemory memory;
  {
    SessionHarness session(memory.loader());
    RunRequest request;
    request.model = write_tiny_model(folder.path(), "tiny");
    request.method = "greedy";
    request.prompt = "1, 2, 3";
    session.thread.start(request, path, /*run_at_once=*/false);
    session.thread.step_phase();
    session.settle();
    memory.refusals = 1;
    session.thread.run();
    REQUIRE(session.until([](const LiveStatus& s) { return !s.memory_refused.empty(); }));
  }
  const auto file = capture::Capture::open(path);
  CHECK(file->status() == capture::RunStatus::kStopped);
  CHECK(file->end_tick() == make_tick(0, Phase::kForward));
}

}  // namespace
}  // namespace triescope::app::test_session_memory
