// The window over a host that is no session thread: its commands reach the host, and the host's
// snapshots and captures are all that it needs. The choices are those that the host lists.
#include <doctest/doctest.h>

#include "app/window/workspace/workspace.h"
#include "tests/unit/window/fake_host.h"

namespace triescope::app::test_run_host {
namespace {

using Asked = std::vector<std::string>;

struct Desk {
  Desk() { workspace.request().method = "greedy", workspace.request().max_new_tokens = 6; }
  // The commands since the last call.
  Asked asked() { return std::exchange(host->asked, {}); }

  test::FakeHost* host = new test::FakeHost;  // the workspace's
  Workspace workspace{Preferences{}, [] {}, std::unique_ptr<RunHost>(host)};
};

TEST_CASE_FIXTURE(
    Desk, "run host: a run is started, stepped, run and stopped wherever the host decodes it") {
  workspace.run.load_model();
  CHECK(asked() == Asked{"load  cpu f32"});
  workspace.run.start(/*run_at_once=*/false);
  workspace.update(0);
  CHECK(asked() == Asked{"start greedy"});
  REQUIRE(workspace.active());
  CHECK(workspace.documents.active_is_live());
  CHECK(workspace.active()->capture->end_tick() == 0);
  CHECK(workspace.live().state == LiveState::kPaused);

  workspace.transport.step();
  workspace.update(0);
  workspace.transport.step_phase();
  workspace.update(0);
  CHECK(asked() == Asked{"step", "phase"});
  CHECK(workspace.active()->capture->end_tick() == capture::make_tick(1, capture::Phase::kForward));
  CHECK(workspace.active()->cursor == workspace.active()->capture->end_tick());

  workspace.transport.toggle_run();
  workspace.update(0);
  CHECK(asked() == Asked{"run"});
  CHECK(workspace.live().state == LiveState::kDone);
  CHECK(workspace.active()->capture->status() == capture::RunStatus::kDone);
  CHECK(workspace.idle());
  CHECK(workspace.log.problems.empty());

  workspace.run.start(/*run_at_once=*/false);
  workspace.update(0);
  workspace.run.stop();
  workspace.update(0);
  CHECK(asked() == Asked{"start greedy", "stop"});
  CHECK(workspace.documents.all().size() == 2);
  CHECK(workspace.active()->capture->status() == capture::RunStatus::kStopped);
}

TEST_CASE_FIXTURE(
    Desk,
    "run host: a run that decodes on is paused, and one that began again runs to the cursor") {
  workspace.run.start(/*run_at_once=*/true);
  workspace.update(0);
  const capture::Tick middle = capture::make_tick(2, capture::Phase::kDraft);
  workspace.documents.set_cursor(middle);
  workspace.transport.run_to_cursor();
  workspace.update(0);
  CHECK(asked() ==
        Asked{"start greedy and run", "start greedy", "run to " + std::to_string(middle)});
  CHECK(workspace.active()->capture->end_tick() == middle);
  host->now.state = LiveState::kRunning;
  host->publish();
  workspace.update(0);
  CHECK(workspace.run.works_by_itself());
  workspace.transport.toggle_run();
  workspace.cancel();
  CHECK(asked() == Asked{"pause", "cancel"});
}

TEST_CASE_FIXTURE(Desk,
                  "run host: a branch is the host's run, and its capture says where it came from") {
  workspace.run.start(/*run_at_once=*/true);
  workspace.update(0);
  const std::string first = workspace.active()->title;
  workspace.run.branch(2, 9);
  workspace.update(0);
  workspace.update(0);
  CHECK(asked() == Asked{"start greedy and run", "branch 2 9", "step"});
  REQUIRE(workspace.active()->origin);
  CHECK(workspace.documents.origin_of(*workspace.active())->title == first);
  CHECK(workspace.active()->capture->nodes()[3].token == 9);
}

TEST_CASE_FIXTURE(
    Desk, "run host: a run that waits for memory says so, and the answer goes to the host") {
  workspace.run.start(/*run_at_once=*/false);
  host->now.memory_refused = "9 GB for the KV";
  host->now.pause_reason = "out of memory";
  host->publish();
  workspace.update(0);
  CHECK(workspace.transport.stop_reason().find("out of memory") != std::string::npos);
  asked();
  workspace.run.try_again();
  workspace.update(0);
  CHECK(asked() == Asked{"try again"});
  CHECK(workspace.transport.stop_reason().empty());
}

TEST_CASE_FIXTURE(Desk, "run host: progress, notices and commands under way are the snapshot's") {
  host->now.state = LiveState::kLoading;
  host->now.progress = "loading weights";
  host->now.progress_done = 0.25;
  host->now.notices = {{1, LogLevel::kWarning, "it is slow there"}};
  host->publish();
  CHECK(workspace.update(0));
  CHECK(workspace.live().progress == "loading weights");
  CHECK(workspace.live().progress_done == 0.25);
  CHECK(workspace.newest_message() == "it is slow there");
  CHECK_FALSE(workspace.idle());
  host->now.state = LiveState::kIdle;
  host->publish();
  ++host->sent;  // one command is on its way
  workspace.update(0);
  CHECK_FALSE(workspace.idle());
  host->now.commands_done = host->sent;
  host->publish();
  workspace.update(0);
  CHECK(workspace.idle());
}

TEST_CASE_FIXTURE(Desk, "run host: breakpoints go to the host, and it decodes what is measured") {
  workspace.run.set_breakpoints({{BreakKind::kRejection, 0, true}});
  workspace.run.start(/*run_at_once=*/true);
  workspace.update(0);
  workspace.measure_again();
  workspace.update(0);
  CHECK(asked() == Asked{"1 breakpoints", "start greedy and run", "measure greedy"});
  CHECK(workspace.comparison.is_on());
}

TEST_CASE_FIXTURE(Desk, "run host: devices, models and what drafts are those of where it decodes") {
  REQUIRE(workspace.answers.devices().size() == 1);
  CHECK(workspace.answers.devices()[0].id == "far:0");
  CHECK(workspace.run.host().models().at(0).path == "/there/m.gguf");
  CHECK(workspace.run.host().draft_heads().at(0).name == "h");
  CHECK(workspace.run.host().draft_models().at(0).name == "d");
  CHECK(workspace.run.host().model_path("x") == "/there/x");
  CHECK(workspace.run.host().drafts_by_default(workspace.request()) == "/there/h");
}

TEST_CASE_FIXTURE(Desk, "run host: the way back to this machine leaves what was recorded") {
  host->far.host = "box";
  workspace.run.start(/*run_at_once=*/false);
  workspace.update(0);
  REQUIRE(workspace.documents.active_is_live());
  CHECK(workspace.connection.is_away());
  const std::uint64_t serial = workspace.live().run_serial;
  workspace.connection.come_back();
  workspace.update(0);
  CHECK(!workspace.connection.is_away());
  CHECK(workspace.run.host().line().host.empty());
  CHECK(workspace.newest_message() ==
        "runs are decoded on this machine from now on, no longer on box");
  // The run is no longer live, and the next one here has a number of its own.
  REQUIRE(workspace.documents.all().size() == 1);
  CHECK(!workspace.documents.active_is_live());
  CHECK(workspace.live().run_serial == serial);
  CHECK(workspace.live().state == LiveState::kIdle);
  workspace.connection.come_back();  // it is here already
  CHECK(workspace.connection.lines() == 1);
}

}  // namespace
}  // namespace triescope::app::test_run_host
