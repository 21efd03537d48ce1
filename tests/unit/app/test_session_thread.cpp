// The session thread on the real model: skipped where set-up has not installed it.
#include <doctest/doctest.h>

#include "app/run/session_thread.h"
#include "core/capture/capture.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/unit/app/session_harness.h"

namespace triescope::app {
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

TEST_CASE("a run steps by phase and by step, runs to its end, and its capture says so") {
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

  // What was stepped can be read at once.
  const auto capture = capture::Capture::open(path);
  CHECK(capture->end_tick() == capture::make_tick(1, capture::Phase::kDraft));

  thread.run();
  REQUIRE(session.until([&](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  capture->poll();
  CHECK(capture->status() == capture::RunStatus::kDone);
  CHECK_FALSE(capture->sequences().empty());
}

TEST_CASE("errors become notices and the thread goes on") {
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

TEST_CASE("a draft model is loaded once, and given up when another is asked for") {
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
  // The target's own file is not loaded twice. Six tokens: one, two drafts and one, one draft more.
  CHECK(accepted(run(test::model_path()->string())) == 3);
  CHECK(loads() == 0);
  CHECK(accepted(run(other_path.string())) == 3);
  CHECK(loads() == 1);
  CHECK(accepted(run(other_path.string())) == 3);
  CHECK(loads() == 1);

  run("");  // refused, and the run before stays
  CHECK(thread.status()->notices.back().level == LogLevel::kError);
  CHECK(thread.status()->state == LiveState::kDone);
}

TEST_CASE("a breakpoint pauses a running decoder, and a stopped run keeps what it recorded") {
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
}  // namespace triescope::app
