// Kept captures open, answer at every cursor, take bookmarks and give slices.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/capture/capture.h"
#include "core/capture/schema.h"
#include "core/capture/writer.h"
#include "tests/support/fixtures.h"
#include "tests/support/paths.h"
#include "tests/unit/capture/answers.h"

namespace triescope::test {
namespace {

using namespace triescope::capture;

TEST_CASE("kept captures: those with decisions in words open and answer at every cursor") {
  const TempDir dir;
  for (const char* name : kCapturesInWords) {
    CAPTURE(name);
    const auto c = Capture::open(copy_of_capture(name, dir));
    const bool killed = std::string(name) == "killed";
    CHECK(c->status() == (killed ? RunStatus::kStopped : RunStatus::kDone));
    CHECK((c->status_message().find("interrupted") != std::string::npos) == killed);
    CHECK(c->owners() == std::vector<Whose>{Whose::kTarget});
    CHECK(c->forwards(Whose::kTarget).size() == c->steps().size());
    CHECK(c->forwards(Whose::kDraft).empty());
    CHECK(c->inputs(1, Whose::kDraft).empty());
    std::size_t nodes = 0, reasons = 0;
    for (Tick cursor = 0; cursor <= c->end_tick(); ++cursor) {
      CHECK(c->nodes_at(cursor).size() >= nodes);
      nodes = c->nodes_at(cursor).size();
      CHECK_FALSE(answers_at(*c, cursor).empty());
    }
    CHECK(nodes == c->nodes().size());
    for (const StepRow& finished : c->steps()) {
      const std::int32_t step = finished.step;
      CHECK_FALSE(c->inputs(step).empty());
      for (const InputRow& row : c->inputs(step)) {
        CHECK(row.whose == Whose::kTarget);
        CHECK(row.forward == 0);
      }
      for (const VerdictRow& row : c->verdicts(step)) CHECK(row.reason == Reason::kNone);
      for (const VerdictRow& row : c->verdicts(step)) reasons += !row.why.empty();
    }
    CHECK(reasons > 20);
  }
}

TEST_CASE("kept captures: candidates that were recorded with their choice have it") {
  const TempDir dir;
  for (const char* name : {"self_beam", "self_sample", "self_chain"}) {
    CAPTURE(name);
    const auto c = Capture::open(copy_of_capture(name, dir));
    CHECK(c->status() == RunStatus::kDone);
    int chosen = 0, candidates = 0;
    for (const NodeRow& node : c->nodes()) {
      for (std::int32_t step = 0; step <= c->last_step(); ++step)
        CHECK(c->stages(node.node, step, c->end_tick()).empty());
      for (const CandidateRow& row : c->candidates(node.node, c->end_tick())) {
        CHECK(phase_of(row.tick) == Phase::kAccept);
        chosen += row.chosen;
        ++candidates;
      }
    }
    CHECK(chosen > 5);
    CHECK(candidates > 2 * chosen);
    const std::string part = dir.path() / "part.tscap";
    save_slice(c->path(), part, 1, 2);
    CHECK(Capture::open(part)->last_step() == 2);
  }
}

TEST_CASE("stages: those of one node, step and cursor come back as they were recorded") {
  const TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const Tick forward = make_tick(1, Phase::kForward), accept = make_tick(1, Phase::kAccept);
  {
    const auto recorder = open_recorder(path);
    RunInfo info;
    info.method = "sample";
    info.prompt_tokens = {1};
    recorder->write({.run = info});
    recorder->write({.nodes = {{}, {.node = 1, .parent = 0, .token = 2, .depth = 1}}});
    recorder->write(
        {.stages = {{.tick = make_tick(0, Phase::kForward), .token = 3, .p = 0.5f},
                    {.tick = forward, .node = 1, .stage = Stage::kTopP, .token = 4, .p = 0.25f},
                    {.tick = forward, .token = 5, .p = 0.75f},
                    {.tick = accept,
                     .node = 1,
                     .stage = Stage::kDrawn,
                     .token = 6,
                     .p = 0,
                     .at = 0.125f}}});
    for (Tick tick = 0; tick < 10; ++tick) recorder->write({.phases = {{.tick = tick}}});
    recorder->write({.finish = Finish{}});
  }
  const auto c = Capture::open(path);
  const auto all = c->stages(1, 1, accept + 1);
  REQUIRE(all.size() == 2);
  CHECK(all[0].tick == forward);
  CHECK(all[0].stage == Stage::kTopP);
  CHECK(all[0].token == 4);
  CHECK(all[0].p == 0.25f);
  CHECK(std::isnan(all[0].at));
  CHECK(all[1].stage == Stage::kDrawn);
  CHECK(all[1].at == 0.125f);
  CHECK(c->stages(1, 1, accept).size() == 1);
  CHECK(c->stages(1, 1, forward).empty());
  CHECK(c->stages(1, 0, accept + 1).empty());
  CHECK(c->stages(0, 0, accept + 1).size() == 1);
  CHECK(c->stages(0, 1, accept + 1).front().token == 5);
  std::set<std::string> names;
  for (int i = 0; i < kStageCount; ++i) names.insert(to_string(static_cast<Stage>(i)));
  CHECK(names.size() == static_cast<std::size_t>(kStageCount));
  const std::string part = dir.path() / "part.tscap";
  save_slice(path, part, 1, 1);
  CHECK(Capture::open(part)->stages(1, 1, accept + 1).size() == 2);
  CHECK(Capture::open(part)->stages(0, 0, accept + 1).empty());
}

TEST_CASE("kept captures: figures of a capture known by heart") {
  const TempDir dir;
  const auto c = Capture::open(copy_of_capture("beam", dir));
  CHECK(c->run().method == "beam");
  CHECK(c->run().seed == 7);
  CHECK(c->run().kv_policy == "compact");
  CHECK(c->last_step() == 29);
  CHECK(c->counts().nodes == 94);
  REQUIRE(c->sequences().size() == 8);
  CHECK(c->sequences()[0].finish == "eos");
  CHECK(c->sequences()[0].node == 22);
  const auto verdicts = c->verdicts(18);
  REQUIRE(verdicts.size() == 3);
  CHECK(verdicts[0].verdict == Verdict::kKept);
  CHECK(verdicts[0].why == "number 1 of 3 beams; the best one left out has -22.26");
  CHECK(verdicts[2].why == "absolute pruning: -22.20 is not above -22.17");
  CHECK(c->piece(401) == "dog ");
}

TEST_CASE("kept captures: bookmarks are kept; a slice shows what the whole shows") {
  const TempDir dir;
  for (const char* name : {"beam", "draft_tree", "killed"}) {
    CAPTURE(name);
    const std::string path = copy_of_capture(name, dir), part = dir.path() / "part.tscap";
    const auto whole = Capture::open(path);
    whole->add_bookmark(17, "in");
    whole->add_bookmark(2, "out");
    CHECK(Capture::open(path)->bookmarks().size() == 2);
    save_slice(path, part, 3, 6);
    const auto slice = Capture::open(part);
    CHECK(slice->last_step() == 6);
    CHECK(slice->steps().front().step == 3);
    REQUIRE(slice->bookmarks().size() == 1);
    CHECK(slice->bookmarks()[0].note == "in");
    for (Tick cursor = 16; cursor <= 35; ++cursor)
      CHECK(answers_at(*slice, cursor) == answers_at(*whole, cursor));
  }
}

TEST_CASE("format: tables and columns have one name each; enumerations and numbers a default") {
  std::set<std::string> names;
  for (const Table& table : tables()) {
    CAPTURE(table.name);
    CHECK(names.insert(table.name).second);
    CHECK((table.time_column == nullptr) == (table.sliced == Sliced::kAll));
    CHECK(std::set<std::string>(table.columns.begin(), table.columns.end()).size() ==
          table.columns.size());
  }
  const auto statement = [](const std::string& name) {
    for (const Table& table : tables())
      if (table.name == name) return create_statement(table);
    return std::string();
  };
  CHECK(statement("slot") ==
        "CREATE TABLE slot (id INTEGER PRIMARY KEY, tick INTEGER, action TEXT, slot INTEGER, "
        "node INTEGER, from_slot INTEGER DEFAULT -1, whose TEXT DEFAULT 'target')");
  CHECK(statement("stage") ==
        "CREATE TABLE stage (id INTEGER PRIMARY KEY, tick INTEGER, node INTEGER, stage TEXT, "
        "token INTEGER, p REAL DEFAULT 0, at REAL)");
  CHECK(statement("piece") ==
        "CREATE TABLE piece (id INTEGER PRIMARY KEY, token INTEGER, bytes BLOB)");
  CHECK(statement("log") ==
        "CREATE TABLE log (id INTEGER PRIMARY KEY, tick INTEGER DEFAULT 0, level TEXT DEFAULT "
        "'info', text TEXT DEFAULT '')");
  CHECK(statement("frontier") ==
        "CREATE TABLE frontier (id INTEGER PRIMARY KEY, step INTEGER, rank INTEGER DEFAULT 0, "
        "node INTEGER, score REAL)");
}

TEST_CASE("capture: the fuzzer's seeds are captures") {
  const TempDir dir;
  std::set<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "tests" / "fuzz" /
                                                               "corpus" / "capture")) {
    const std::string path = dir.path() / entry.path().filename();
    std::filesystem::copy_file(entry.path(), path);
    CAPTURE(path);
    const auto c = Capture::open(path);
    const bool empty = entry.path().filename() == "empty";
    seeds.insert(entry.path().filename());
    CHECK(c->stages(1, 1, c->end_tick()).size() == (empty ? 0 : 2));
    if (!empty) CHECK(c->owners() == std::vector<Whose>{Whose::kTarget, Whose::kDraft});
  }
  CHECK(seeds.contains("run"));
  CHECK(seeds.contains("empty"));
}

}  // namespace
}  // namespace triescope::test
