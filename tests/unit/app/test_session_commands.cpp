// The session thread on a model of a few kilobytes: the effect of each command, to the tick and the
// token.
#include <doctest/doctest.h>

#include "app/session/session_thread.h"
#include "core/capture/capture.h"
#include "tests/support/paths.h"
#include "tests/unit/app/session_harness.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app::test_session_commands {
namespace {

using capture::make_tick;
using capture::Phase;

struct Commands : SessionHarness {
  test::TempDir folder;
  const std::string model = write_tiny_model(folder.path(), "tiny");

  std::string path(const std::string& name) const {
    return (folder.path() / (name + ".tscap")).string();
  }
  RunRequest greedy(int max_new_tokens = 8) const {
    RunRequest request;
    request.model = model;
    request.method = "greedy";
    request.settings = {{"eos_token_id", {-1}}};
    request.prompt = "1, 2, 3";
    request.max_new_tokens = max_new_tokens;
    return request;
  }
  // Starts a run, which pauses before its first phase.
  void started(const RunRequest& request, const std::string& name = "run") {
    thread.start(request, path(name), /*run_at_once=*/false);
    settle();
    REQUIRE(thread.status()->state == LiveState::kPaused);
    REQUIRE(thread.status()->next_tick == 0);
  }
  // The tokens of the path from the root's child to `node`.
  static std::vector<std::int32_t> tokens_to(const capture::Capture& file, std::int32_t node) {
    std::vector<std::int32_t> tokens;
    for (const std::int32_t at : file.path_to(node))
      tokens.push_back(file.nodes()[static_cast<std::size_t>(at)].token);
    return tokens;
  }
};

TEST_CASE_FIXTURE(
    Commands, "session commands: a model without a tokenizer decodes the ids of the prompt field") {
  started(greedy(4));
  thread.run();
  REQUIRE(until([](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  const auto file = capture::Capture::open(path("run"));
  CHECK(file->run().prompt_tokens == std::vector<std::int32_t>{1, 2, 3});
  CHECK(file->run().prompt_text == "<1><2><3>");
  REQUIRE(file->nodes().size() == 5);
  const std::int32_t first = file->nodes()[1].token;
  CHECK(file->piece(first) == "<" + std::to_string(first) + ">");

  RunRequest text = greedy();
  text.prompt = "Once upon";
  thread.start(text, path("text"), false);
  settle();
  CHECK(errors() == 1);
  CHECK(last_notice() ==
        "the model has no tokenizer, so its prompt is a list of token ids; token ids: expected "
        "numbers separated by commas, found 'Once upon' as entry 1");
  CHECK(thread.status()->state == LiveState::kDone);  // the run before stays
}

TEST_CASE_FIXTURE(
    Commands,
    "session commands: a step ends before the next draft, a phase before the next phase") {
  started(greedy());
  for (capture::Tick tick = 1; tick <= capture::kPhaseCount; ++tick) {
    thread.step_phase();
    settle();
    CHECK(thread.status()->next_tick == tick);
  }
  thread.step();
  settle();
  CHECK(thread.status()->next_tick == make_tick(2, Phase::kDraft));
  thread.step_phase();
  thread.step_phase();
  thread.step();  // from within a step it goes to the step's end
  settle();
  CHECK(thread.status()->next_tick == make_tick(3, Phase::kDraft));
  CHECK(capture::Capture::open(path("run"))->end_tick() == make_tick(3, Phase::kDraft));
}

TEST_CASE_FIXTURE(
    Commands,
    "session commands: a branch begins with the nodes up to the one named, then the token") {
  started(greedy());
  thread.run();
  REQUIRE(until([](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  const auto whole = capture::Capture::open(path("run"));
  REQUIRE(whole->nodes().size() == 9);
  const auto serial = thread.status()->run_serial;
  for (const std::int32_t node : {3, 0, 1}) {
    CAPTURE(node);
    const std::string name = "branch" + std::to_string(node);
    // A branch leaves the newest run, so each begins again from the same one.
    if (node != 3) {
      started(greedy(), "again" + std::to_string(node));
      thread.run();
      REQUIRE(until([](const LiveStatus& s) { return s.state == LiveState::kDone; }));
    }
    const std::vector<std::int32_t> kept = tokens_to(*whole, node);
    const std::int32_t other = (whole->nodes()[static_cast<std::size_t>(node) + 1].token + 1) % 48;
    thread.branch(node, other, path(name));
    settle();
    REQUIRE(errors() == 0);
    CHECK(thread.status()->state == LiveState::kPaused);
    CHECK(thread.status()->next_tick == 0);
    CHECK(thread.status()->capture_path == path(name));
    thread.step();
    settle();
    const auto branch = capture::Capture::open(path(name));
    REQUIRE(branch->nodes().size() > kept.size() + 1);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      CHECK(branch->nodes()[i + 1].token == kept[i]);
      CHECK(branch->nodes()[i + 1].parent == static_cast<std::int32_t>(i));
      CHECK(branch->nodes()[i + 1].source == whole->nodes()[i + 1].source);
    }
    const capture::NodeRow& forced = branch->nodes()[kept.size() + 1];
    CHECK(forced.token == other);
    CHECK(forced.parent == node);
    CHECK(forced.depth == node + 1);
    CHECK(forced.source == capture::Source::kForced);
    thread.run();
    REQUIRE(until([](const LiveStatus& s) { return s.state == LiveState::kDone; }));
    const auto finished = capture::Capture::open(path(name));
    REQUIRE_FALSE(finished->sequences().empty());
    std::vector<std::int32_t> tokens = finished->sequences().back().tokens;
    REQUIRE(tokens.size() == 8);
    tokens.resize(kept.size() + 1);
    CHECK(std::equal(kept.begin(), kept.end(), tokens.begin()));
    CHECK(tokens.back() == other);
  }
  CHECK(thread.status()->run_serial == serial + 5);
}

TEST_CASE_FIXTURE(Commands, "session commands: a branch that is refused leaves the run as it is") {
  thread.branch(0, 1, path("none"));
  settle();
  CHECK(errors() == 1);
  CHECK(last_notice().find("no run to branch from") == 0);
  started(greedy());
  thread.step();
  thread.branch(99, 1, path("far"));
  settle();
  CHECK(errors() == 2);
  CHECK(last_notice().find("expected a node from 0 to 1; found 99") != std::string::npos);
  CHECK(thread.status()->run_serial == 1);
  thread.step();
  settle();
  CHECK(errors() == 2);
  CHECK(thread.status()->next_tick == make_tick(2, Phase::kDraft));
}

TEST_CASE_FIXTURE(Commands,
                  "session commands: run-to stops at the tick named, and not at one that is past") {
  started(greedy());
  thread.run_to(make_tick(3, Phase::kAccept));
  settle();
  CHECK(thread.status()->state == LiveState::kPaused);
  CHECK(thread.status()->next_tick == make_tick(3, Phase::kAccept));
  for (const capture::Tick tick : {make_tick(3, Phase::kAccept), make_tick(1, Phase::kDraft)}) {
    thread.run_to(tick);
    settle();
    CHECK(thread.status()->next_tick == make_tick(3, Phase::kAccept));
  }
  thread.run_to(make_tick(3, Phase::kCommit));
  settle();
  CHECK(thread.status()->next_tick == make_tick(3, Phase::kCommit));
  thread.run();
  REQUIRE(until([](const LiveStatus& s) { return s.state == LiveState::kDone; }));
  CHECK(errors() == 0);
}

TEST_CASE_FIXTURE(
    Commands,
    "session commands: a target that a breakpoint cut off holds neither a step nor a run") {
  thread.set_breakpoints({{BreakKind::kStep, 1, true}});
  started(greedy());
  thread.run_to(make_tick(3, Phase::kAccept));
  settle();
  CHECK(thread.status()->next_tick == make_tick(2, Phase::kDraft));
  CHECK(thread.status()->pause_reason == "step = 1: done");
  thread.step();
  settle();
  CHECK(thread.status()->pause_reason.empty());
  thread.step();
  settle();
  CHECK(thread.status()->next_tick == make_tick(4, Phase::kDraft));  // not within step 3

  started(greedy(), "again");
  thread.run_to(make_tick(3, Phase::kAccept));
  settle();
  CHECK(thread.status()->next_tick == make_tick(2, Phase::kDraft));
  thread.run();
  settle();
  CHECK(thread.status()->state == LiveState::kDone);
  CHECK(thread.status()->pause_reason.empty());
}

TEST_CASE_FIXTURE(
    Commands,
    "session commands: breakpoints hold for the open run and for the next one, until cleared") {
  started(greedy());
  thread.set_breakpoints({{BreakKind::kLiveAbove, 5, true}});
  thread.run();
  settle();
  // The prompt has 3 tokens; each step adds one.
  CHECK(thread.status()->pause_reason == "live KV tokens > 5: 6 live tokens");
  const capture::Tick first = thread.status()->next_tick;
  thread.start(greedy(), path("second"), /*run_at_once=*/true);
  settle();
  CHECK(thread.status()->state == LiveState::kPaused);
  CHECK(thread.status()->next_tick == first);
  thread.set_breakpoints({});
  thread.run();
  settle();
  CHECK(thread.status()->state == LiveState::kDone);
}

TEST_CASE_FIXTURE(
    Commands,
    "session commands: a pause asked for after a run is not lost, one from before is over") {
  started(greedy(200));
  hold();
  thread.run();
  thread.pause();
  release();
  settle();
  CHECK(thread.status()->state == LiveState::kPaused);
  CHECK(thread.status()->next_tick == 0);

  hold();
  thread.pause();
  thread.run_to(7);
  release();
  settle();
  CHECK(thread.status()->next_tick == 7);
  thread.pause();  // nothing runs
  thread.run();
  REQUIRE(until([](const LiveStatus& s) { return s.state == LiveState::kDone; }));
}

TEST_CASE_FIXTURE(
    Commands,
    "session commands: a stopped run ends as stopped with what it has, and stays stepped to") {
  thread.stop();  // nothing to stop
  settle();
  CHECK(errors() == 0);
  CHECK(thread.status()->state == LiveState::kIdle);
  started(greedy());
  thread.step();
  thread.step();
  settle();
  thread.stop();
  settle();
  CHECK(thread.status()->state == LiveState::kDone);
  const auto file = capture::Capture::open(path("run"));
  CHECK(file->status() == capture::RunStatus::kStopped);
  CHECK(file->last_step() >= 1);
  thread.step();
  settle();
  CHECK(last_notice() == "the run has ended: press Start for a new one");
}

TEST_CASE_FIXTURE(Commands, "session commands: a new run closes the one before it") {
  started(greedy(), "first");
  thread.step();
  started(greedy(), "second");
  CHECK(capture::Capture::open(path("first"))->status() == capture::RunStatus::kStopped);
  CHECK(capture::Capture::open(path("second"))->status() == capture::RunStatus::kRunning);
  CHECK(thread.status()->run_serial == 2);
  CHECK(thread.status()->capture_path == path("second"));
}

TEST_CASE_FIXTURE(Commands,
                  "session commands: cancel drops the commands that wait, and those alone") {
  started(greedy());
  hold();
  const std::uint64_t before = thread.commands_sent();
  thread.step();
  thread.step();
  CHECK(thread.commands_sent() == before + 2);
  thread.cancel();
  CHECK(thread.commands_sent() == before);
  release();
  settle();
  CHECK(thread.status()->next_tick == 0);
  thread.step();
  settle();
  CHECK(thread.status()->next_tick == make_tick(1, Phase::kDraft));
}

TEST_CASE_FIXTURE(Commands,
                  "session commands: a model is loaded once, and again for another dtype") {
  const auto loads = [&] {
    int count = 0;
    for (const Notice& notice : thread.status()->notices)
      count += notice.text.starts_with("loaded ");
    return count;
  };
  thread.load(model, "cpu", DType::kF32, {});
  settle();
  CHECK(loads() == 1);
  CHECK(last_notice() == "loaded tiny (f32, cpu)");
  CHECK(thread.status()->model->vocab_size == 48);
  CHECK_FALSE(thread.status()->tokenizer->encodes_text());
  thread.load(model, "cpu", DType::kF32, {});
  settle();
  CHECK(loads() == 1);
  started(greedy());
  CHECK(loads() == 1);
  thread.load(model, "cpu", DType::kBF16, {});
  settle();
  CHECK(loads() == 2);
  CHECK(last_notice() == "loaded tiny (bf16, cpu)");
  // The run used the old model.
  CHECK(thread.status()->state == LiveState::kIdle);
  CHECK(capture::Capture::open(path("run"))->status() == capture::RunStatus::kStopped);
  thread.load("/no/such.gguf", "cpu", DType::kF32, {});
  settle();
  CHECK(errors() == 1);
  CHECK(thread.status()->model->dtype == DType::kBF16);  // the loaded model stays
}

}  // namespace
}  // namespace triescope::app::test_session_commands
