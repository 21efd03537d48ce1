// The session thread on the real model; skipped where set-up has not installed it.
#include <doctest/doctest.h>

#include "app/session/session_thread.h"
#include "core/capture/capture.h"
#include "tests/support/little_memory.h"
#include "tests/support/paths.h"
#include "tests/support/sanitized.h"
#include "tests/support/skip.h"
#include "tests/unit/app/session_harness.h"

namespace triescope::app::test_session_thread {
namespace {

RunRequest small_run() {
  RunRequest request;
  request.model = test::model_path()->string();
  request.method = "beam";
  request.settings = {{"num_beams", 3}};
  request.prompt = "Once upon a time";
  request.max_new_tokens = 6;
  return request;
}

TEST_CASE(
    "session thread: a run steps by phase and by step, runs to its end, and its capture says so") {
  if (!test::model_path()) TRIESCOPE_SKIP("the model is not installed");
  test::TempDir folder;
  SessionHarness session;
  SessionThread& thread = session.thread;
  const std::string path = (folder.path() / "run.tscap").string();
  thread.start(small_run(), path, /*run_at_once=*/false);
  session.settle();
  REQUIRE(thread.status()->state == LiveState::kPaused);
  CHECK(thread.status()->next_tick == 0);

  thread.step_phase();
  session.settle();
  CHECK(thread.status()->next_tick == 1);
  thread.step();
  session.settle();
  CHECK(thread.status()->next_tick == capture::make_tick(1, capture::Phase::kDraft));

  // A finished step can be read at once.
  const auto capture = capture::Capture::open(path);
  CHECK(capture->end_tick() == capture::make_tick(1, capture::Phase::kDraft));

  thread.run();
  REQUIRE(session.until([&](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  capture->poll();
  CHECK(capture->status() == capture::RunStatus::kDone);
  CHECK_FALSE(capture->sequences().empty());
}

TEST_CASE(
    "session thread: memory that runs out makes the run wait; it goes on, or makes room for the next") {
  if (!test::model_path()) TRIESCOPE_SKIP("the model is not installed");
  if (test::kSanitized) TRIESCOPE_SKIP("sanitizers reserve their own address space");
  test::TempDir folder;
  SessionHarness session;
  SessionThread& thread = session.thread;
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  RunRequest large = small_run();
  large.settings = {{"num_beams", 24}, {"kv", "keep"}};  // 1.1 MB of K and V a step
  large.max_new_tokens = 80;
  const auto waits = [](const LiveStatus& s) { return !s.memory_refused.empty(); };
  const auto is_done = [](const LiveStatus& s) { return s.state == LiveState::kDone; };
  const auto run_short = [&](const char* name) {
    thread.start(large, path(name), /*run_at_once=*/false);
    thread.step();
    thread.step();
    session.settle();
    REQUIRE(session.errors() == 0);
    const test::LittleMemory little(20 << 20);
    thread.run();
    REQUIRE(session.until([&](const LiveStatus& s) { return waits(s) || is_done(s); }));
  };

  run_short("waited.tscap");
  const auto status = thread.status();
  REQUIRE(status->state == LiveState::kPaused);
  CHECK(status->pause_reason == "out of memory");
  CAPTURE(status->memory_refused);
  CHECK(status->memory_refused.find("KV of ") == 0);
  CHECK(status->memory_refused.find("take fewer beams, a shorter prompt or dtype bf16") !=
        std::string::npos);
  CHECK(status->notices.back().text == "out of memory: " + status->memory_refused);
  {
    const auto capture = capture::Capture::open(path("waited.tscap"));
    CHECK(capture->status() == capture::RunStatus::kRunning);
    CHECK(capture->end_tick() == status->next_tick);  // finished phases can be read
    CHECK(capture->last_step() >= 2);
  }
  thread.try_again();
  REQUIRE(session.until(is_done));
  const auto waited = capture::Capture::open(path("waited.tscap"));
  CHECK(waited->status() == capture::RunStatus::kDone);

  const RunRequest first = large;
  large.max_new_tokens = 400;
  run_short("left.tscap");
  REQUIRE(waits(*thread.status()));
  thread.start(first, path("whole.tscap"), true);
  REQUIRE(session.until(
      [&](const LiveStatus& s) { return is_done(s) && s.capture_path == path("whole.tscap"); }));
  CHECK(session.errors() == 0);
  CHECK(capture::Capture::open(path("left.tscap"))->status() == capture::RunStatus::kStopped);
  const auto whole = capture::Capture::open(path("whole.tscap"));
  REQUIRE(waited->sequences().size() == whole->sequences().size());
  for (std::size_t i = 0; i < whole->sequences().size(); ++i)
    CHECK(waited->sequences()[i].tokens == whole->sequences()[i].tokens);
}

TEST_CASE("session thread: errors become notices and the thread goes on") {
  if (!test::model_path()) TRIESCOPE_SKIP("the model is not installed");
  test::TempDir folder;
  SessionHarness session;
  SessionThread& thread = session.thread;
  RunRequest wrong = small_run();
  wrong.model = "/no/such/model.gguf";
  thread.start(wrong, (folder.path() / "a.tscap").string(), false);
  session.settle();
  CHECK(session.errors() == 1);
  wrong = small_run();
  wrong.settings = {{"num_beams", 0}};
  thread.start(wrong, (folder.path() / "b.tscap").string(), false);
  session.settle();
  CHECK(session.errors() == 2);
  thread.step();  // there is no run
  session.settle();
  CHECK(session.errors() == 3);

  thread.start(small_run(), (folder.path() / "c.tscap").string(), true);
  REQUIRE(session.until([&](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  CHECK(session.errors() == 3);
}

TEST_CASE("session thread: a draft model is loaded once, and given up when another is asked for") {
  if (!test::model_path()) TRIESCOPE_SKIP("the model is not installed");
  test::TempDir folder;
  SessionHarness session;
  SessionThread& thread = session.thread;
  const auto loads = [&] {
    int count = 0;
    for (const Notice& notice : thread.status()->notices)
      count += notice.text.starts_with("loaded as draft model: ");
    return count;
  };
  const auto accepted = [&](const std::string& path) {
    const auto capture = capture::Capture::open(path);
    int count = 0;
    for (std::int32_t step = 0; step <= capture->last_step(); ++step)
      count += capture->step(step)->accepted;
    return count;
  };
  const auto other_path = folder.path() / "other.gguf";
  std::filesystem::create_symlink(*test::model_path(), other_path);
  RunRequest request = small_run();
  request.method = "draft_model";
  request.settings = {{"num_assistant_tokens", 2}};
  int runs = 0;
  const auto run = [&](const std::string& draft_model) {
    request.draft_model = draft_model;
    const std::string path = (folder.path() / (std::to_string(++runs) + ".tscap")).string();
    thread.start(request, path, true);
    session.settle();
    REQUIRE(session.until([&](const LiveStatus& s) { return s.state != LiveState::kRunning; }));
    return path;
  };
  // The target's own file is not loaded twice. The six tokens are: one, two drafts and one, one
  // draft and one more.
  CHECK(accepted(run(test::model_path()->string())) == 3);
  CHECK(loads() == 0);
  CHECK(accepted(run(other_path.string())) == 3);
  CHECK(loads() == 1);
  CHECK(accepted(run(other_path.string())) == 3);
  CHECK(loads() == 1);

  run("");  // refused; the run before stays
  CHECK(thread.status()->notices.back().level == LogLevel::kError);
  CHECK(thread.status()->state == LiveState::kDone);
}

TEST_CASE(
    "session thread: a breakpoint pauses a running decoder, and a stopped run keeps what it recorded") {
  if (!test::model_path()) TRIESCOPE_SKIP("the model is not installed");
  test::TempDir folder;
  SessionHarness session;
  SessionThread& thread = session.thread;
  thread.set_breakpoints({{BreakKind::kStep, 2, true}});
  RunRequest request = small_run();
  request.max_new_tokens = 40;
  const std::string path = (folder.path() / "run.tscap").string();
  thread.start(request, path, true);
  REQUIRE(session.until([&](const LiveStatus& s) { return !s.pause_reason.empty(); }));
  REQUIRE(session.until([&](const LiveStatus& s) { return s.state == LiveState::kPaused; }));
  CHECK(capture::step_of(thread.status()->next_tick) == 3);
  thread.stop();
  REQUIRE(session.until([&](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  session.settle();
  const auto capture = capture::Capture::open(path);
  CHECK(capture->status() == capture::RunStatus::kStopped);
  CHECK(capture->last_step() >= 2);
}

}  // namespace
}  // namespace triescope::app::test_session_thread
