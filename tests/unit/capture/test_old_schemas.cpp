// Captures of schema 1 open, answer at every cursor, take bookmarks and give slices.
#include <doctest/doctest.h>
#include <sqlite3.h>

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

void run_sql(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

TEST_CASE("schema 1: every capture opens and answers at every cursor") {
  const TempDir dir;
  for (const char* name : kSchema1Captures) {
    CAPTURE(name);
    const auto c = Capture::open(copy_of_capture(1, name, dir));
    CHECK(c->schema() == 1);
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
      for (const VerdictRow& row : c->verdicts(step)) reasons += !row.stored_reason.empty();
    }
    CHECK(reasons > 20);
  }
}

TEST_CASE(
    "schema 2: every capture opens; candidates come with their choice, stages are not there") {
  const TempDir dir;
  for (const char* name : kSchema2Captures) {
    CAPTURE(name);
    const auto c = Capture::open(copy_of_capture(2, name, dir));
    CHECK(c->schema() == 2);
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
    CHECK(Capture::open(part)->schema() == 2);
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

TEST_CASE("schema 1: figures of a capture known by heart") {
  const TempDir dir;
  const auto c = Capture::open(copy_of_capture(1, "beam", dir));
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
  CHECK(verdicts[0].stored_reason == "number 1 of 3 beams; the best one left out has -22.26");
  CHECK(verdicts[2].stored_reason == "absolute pruning: -22.20 is not above -22.17");
  CHECK(c->piece(401) == "dog ");
}

TEST_CASE("schema 1: bookmarks are kept; a slice is of schema 1 and shows what the whole shows") {
  const TempDir dir;
  for (const char* name : {"beam", "draft_tree", "killed"}) {
    CAPTURE(name);
    const std::string path = copy_of_capture(1, name, dir), part = dir.path() / "part.tscap";
    const auto whole = Capture::open(path);
    whole->add_bookmark(17, "in");
    whole->add_bookmark(2, "out");
    CHECK(Capture::open(path)->bookmarks().size() == 2);
    save_slice(path, part, 3, 6);
    const auto slice = Capture::open(part);
    CHECK(slice->schema() == 1);
    CHECK(slice->last_step() == 6);
    CHECK(slice->steps().front().step == 3);
    REQUIRE(slice->bookmarks().size() == 1);
    CHECK(slice->bookmarks()[0].note == "in");
    for (Tick cursor = 16; cursor <= 35; ++cursor)
      CHECK(answers_at(*slice, cursor) == answers_at(*whole, cursor));
  }
}

TEST_CASE("schema 1: a file with tables of another schema is refused, either way round") {
  const TempDir dir;
  const std::string path = copy_of_capture(1, "typical", dir);
  run_sql(path, "PRAGMA user_version=2");
  CHECK_THROWS_WITH_AS(Capture::open(path), doctest::Contains("that no capture has"), Error);
  run_sql(path, "PRAGMA user_version=0");
  CHECK_THROWS_WITH_AS(Capture::open(path), doctest::Contains("expected a schema from 1 to 4"),
                       Error);
  run_sql(path, "PRAGMA user_version=1; ALTER TABLE slot ADD COLUMN whose INTEGER");
  CHECK_THROWS_WITH_AS(Capture::open(path), doctest::Contains("'slot' that no capture has"), Error);
}

TEST_CASE("schema: a run of before schema 4 says nothing of a window that drew, and is not marked") {
  const TempDir dir;
  for (const char* name : kSchema3Captures) {
    CAPTURE(name);
    const auto c = Capture::open(copy_of_capture(3, name, dir));
    CHECK(c->schema() == 3);
    CHECK_FALSE(c->run().timed_while_drawing);
  }
}

TEST_CASE("schema: each names its tables and columns once, and schema 1 those it always had") {
  for (int schema = 1; schema <= kSchemaVersion; ++schema) {
    std::set<std::string> names;
    for (const Table& table : tables(schema)) {
      CHECK(names.insert(table.name).second);
      CHECK((table.time_column == nullptr) == (table.sliced == Sliced::kAll));
    }
    CHECK(names.size() == (schema < 3 ? 15 : 16));
    CHECK(names.contains("stage") == (schema >= 3));
  }
  const auto statement = [](int schema, const std::string& name) {
    for (const Table& table : tables(schema))
      if (table.name == name) return create_statement(table);
    return std::string();
  };
  CHECK(statement(1, "slot") ==
        "CREATE TABLE slot (id INTEGER PRIMARY KEY, tick INTEGER, action INTEGER, slot INTEGER, "
        "node INTEGER, from_slot INTEGER)");
  CHECK(statement(2, "slot") ==
        "CREATE TABLE slot (id INTEGER PRIMARY KEY, tick INTEGER, action INTEGER, slot INTEGER, "
        "node INTEGER, from_slot INTEGER, whose INTEGER)");
  CHECK(statement(3, "stage") ==
        "CREATE TABLE stage (id INTEGER PRIMARY KEY, tick INTEGER, node INTEGER, stage INTEGER, "
        "token INTEGER, p REAL, at REAL)");
  CHECK(statement(2, "piece") ==
        "CREATE TABLE piece (id INTEGER PRIMARY KEY, token INTEGER, bytes BLOB)");
  CHECK(statement(2, "log") ==
        "CREATE TABLE log (id INTEGER PRIMARY KEY, tick INTEGER, level INTEGER, text TEXT)");
  CHECK(statement(2, "frontier") ==
        "CREATE TABLE frontier (id INTEGER PRIMARY KEY, step INTEGER, rank INTEGER, node INTEGER, "
        "score REAL)");
}

TEST_CASE("capture: the fuzzer's seeds are captures, of every schema") {
  const TempDir dir;
  std::set<int> schemas;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "tests" / "fuzz" /
                                                               "corpus" / "capture")) {
    const std::string path = dir.path() / entry.path().filename();
    std::filesystem::copy_file(entry.path(), path);
    CAPTURE(path);
    const auto c = Capture::open(path);
    schemas.insert(c->schema());
    CHECK(c->stages(1, 1, c->end_tick()).size() == (c->schema() >= 3 ? 2 : 0));
    if (c->schema() >= 2) CHECK(c->owners() == std::vector<Whose>{Whose::kTarget, Whose::kDraft});
  }
  CHECK(schemas == std::set<int>{1, 2, 3, 4});
}

}  // namespace
}  // namespace triescope::test
