// Captures of other programs: what may be missing, what may be more, and what stands in its place.
#include <doctest/doctest.h>

#include <cmath>

#include "core/capture/capture.h"
#include "core/capture/schema_text.h"
#include "core/capture/writer.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/sql.h"
#include "tests/unit/capture/answers.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test::test_open_format {
namespace {

constexpr const char* kHeader = "PRAGMA application_id = 1414742864; PRAGMA user_version = 1;";

std::string made(const TempDir& dir, const std::string& sql) {
  const std::string path = dir.path() / "foreign.tscap";
  run_sql(path, kHeader + sql);
  return path;
}

TEST_CASE("open format: a run alone is a capture") {
  const TempDir dir;
  const auto c =
      Capture::open(made(dir, "CREATE TABLE run (method); INSERT INTO run VALUES ('mine')"));
  CHECK(c->run().method == "mine");
  CHECK(c->run().kind == RunKind::kText);
  CHECK(c->run().width == 1);
  CHECK(c->status() == RunStatus::kDone);
  CHECK(c->end_tick() == 0);
  CHECK(c->program().name.empty());
  CHECK(c->drafters().empty());
  answers_at(*c, 0);
  c->add_bookmark(0, "mine");
  CHECK(Capture::open(c->path())->bookmarks().front().note == "mine");
}

TEST_CASE("open format: a missing column has its default, or what follows from the others") {
  const TempDir dir;
  const auto c = Capture::open(made(
      dir,
      "CREATE TABLE run (method, prompt_tokens); INSERT INTO run VALUES ('mine', ' [ 1 , 2 ] ');"
      "CREATE TABLE node (parent, token, tick);"
      "INSERT INTO node VALUES (-1, -1, 0), (0, 7, 2), (1, 8, 7);"
      "CREATE TABLE verdict (tick, node, verdict);"
      "INSERT INTO verdict VALUES (2, 1, 'emitted'), (7, 2, 'emitted');"
      "CREATE TABLE sequence (tick, tokens); INSERT INTO sequence VALUES (7, '[]');"
      "CREATE TABLE phase (tick); INSERT INTO phase VALUES (2), (7)"));
  CHECK(c->run().prompt_tokens == std::vector<std::int32_t>{1, 2});
  REQUIRE(c->nodes().size() == 3);
  CHECK(c->nodes()[2].node == 2);
  CHECK(c->nodes()[2].depth == 2);
  CHECK(std::isnan(c->nodes()[2].logprob));
  CHECK(c->nodes()[2].q == 1);
  CHECK(c->nodes()[2].drafter == -1);
  CHECK(c->nodes()[2].role == NodeRole::kCandidate);
  CHECK(c->verdicts(1)[0].p == -1);
  CHECK(c->verdicts(1)[0].gap == 0);
  CHECK(c->sequences()[0].rank == -1);
  CHECK(c->end_tick() == 8);
  for (Tick cursor = 0; cursor <= 8; ++cursor) answers_at(*c, cursor);
}

TEST_CASE("open format: NULL is the same as a missing column") {
  const TempDir dir;
  const auto c = Capture::open(made(
      dir,
      "CREATE TABLE run (method, kind, width, seed, prompt_text, settings_json);"
      "INSERT INTO run (method) VALUES ('mine');"
      "CREATE TABLE node (node, parent, token, depth, logprob, q, source, tick, role, drafter);"
      "INSERT INTO node (parent, tick) VALUES (-1, 0), (0, 2);"
      "CREATE TABLE verdict (tick, node, verdict, p, gap, reason, why);"
      "INSERT INTO verdict (tick, node, verdict) VALUES (2, 1, 'kept')"));
  CHECK(c->run().width == 1);
  CHECK(c->nodes()[1].depth == 1);
  CHECK(c->nodes()[1].q == 1);
  CHECK(std::isnan(c->nodes()[1].logprob));
  CHECK(c->verdicts(0)[0].p == -1);
  CHECK(c->verdicts(0)[0].gap == 0);
  CHECK(c->verdicts(0)[0].reason == Reason::kNone);
}

TEST_CASE("open format: a reason that is not known is read as words of the recorder's own") {
  const TempDir dir;
  const auto c = Capture::open(made(
      dir,
      "CREATE TABLE run (method); INSERT INTO run VALUES ('mine');"
      "CREATE TABLE node (parent, tick); INSERT INTO node VALUES (-1, 0), (0, 2), (0, 2), (0, 2);"
      "CREATE TABLE verdict (tick, node, verdict, reason, why);"
      "INSERT INTO verdict VALUES (2, 1, 'accepted', 'coin_was_heads', NULL),"
      "  (2, 2, 'rejected', 'coin_was_tails', 'the coin said no'),"
      "  (2, 3, 'rejected', 'not_argmax', NULL)"));
  const auto verdicts = c->verdicts(0);
  CHECK(verdicts[0].reason == Reason::kNone);
  CHECK(verdicts[0].why == "coin_was_heads");
  CHECK(verdicts[1].reason == Reason::kNone);
  CHECK(verdicts[1].why == "the coin said no");
  CHECK(verdicts[2].reason == Reason::kNotArgmax);
  CHECK(verdicts[2].why.empty());
}

TEST_CASE("open format: tables, columns, indices and views of one's own change nothing") {
  const TempDir dir;
  const std::string path = dir.path() / "run.tscap", more = dir.path() / "more.tscap";
  record_sample(*open_recorder(path), 20, 3);
  std::filesystem::copy_file(path, more);
  run_sql(more,
          "CREATE TABLE mine (x); INSERT INTO mine VALUES (1); ALTER TABLE node ADD COLUMN mine;"
          "CREATE INDEX a ON node (tick); CREATE UNIQUE INDEX b ON verdict (id);"
          "CREATE VIEW c AS SELECT * FROM mine; DROP VIEW named_node;"
          "CREATE VIRTUAL TABLE words USING fts5(text)");
  const auto c = Capture::open(path), d = Capture::open(more);
  for (Tick cursor = 0; cursor <= c->end_tick(); cursor += 3)
    CHECK(answers_at(*d, cursor) == answers_at(*c, cursor));
  const std::string part = dir.path() / "part.tscap";
  save_slice(more, part, 3, 6);
  CHECK(Capture::open(part)->last_step() == 6);
}

TEST_CASE("open format: rows are read from the tables, not from an index that says otherwise") {
  const TempDir dir;
  const std::string path = made(
      dir,
      "CREATE TABLE run (method); INSERT INTO run VALUES ('mine');"
      "CREATE TABLE node (parent, tick, token); INSERT INTO node VALUES (-1, 0, -1), (0, 2, 5);"
      "CREATE INDEX covers ON node (parent, tick, token);"
      "PRAGMA writable_schema = ON;"
      "UPDATE sqlite_schema SET sql = 'CREATE INDEX covers ON node (token, parent, tick)' "
      "WHERE name = 'covers'");
  CHECK(Capture::open(path)->nodes()[1].token == 5);
}

TEST_CASE("open format: a slice of another program's capture has what it had") {
  const TempDir dir;
  const std::string path = made(
      dir,
      "CREATE TABLE run (a, method); INSERT INTO run (rowid, method) VALUES (9, 'mine');"
      "CREATE TABLE node (parent, tick); INSERT INTO node VALUES (-1, 0), (0, 2), (1, 7);"
      "CREATE TABLE phase (tick); INSERT INTO phase VALUES (2), (7);"
      "CREATE TABLE step (step); INSERT INTO step VALUES (0), (1);"
      "CREATE TABLE metric (tick, name, value); INSERT INTO metric VALUES (2, 'm', 1), (7, 'm', 2)");
  const std::string part = dir.path() / "part.tscap";
  save_slice(path, part, 1, 1);
  const auto c = Capture::open(part);
  CHECK(c->run().method == "mine");
  CHECK(c->status() == RunStatus::kDone);
  CHECK(c->nodes().size() == 3);
  REQUIRE(c->metrics().size() == 1);
  CHECK(c->metrics()[0].value == 2);
}

TEST_CASE("open format: metrics and seen slots come back as they were recorded") {
  const TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  {
    const auto recorder = open_recorder(path);
    recorder->write({.run = sample_info(), .nodes = {{}}});
    recorder->write({.inputs = {{.step = 0, .node = -2}, {.step = 0, .row = 1, .node = -3}},
                     .seen = {{.step = 0, .row = 0, .slots = {0, 0}},
                              {.step = 0, .row = 1, .slots = {0, 15, 18, 18}}},
                     .metrics = {{.tick = 1, .name = "entropy", .value = 2.5},
                                 {.tick = 2, .node = 0, .name = "entropy", .value = std::nan("")}},
                     .finish = Finish{}});
  }
  const auto c = Capture::open(path);
  REQUIRE(c->metrics().size() == 2);
  CHECK(c->metrics()[0].name == "entropy");
  CHECK(c->metrics()[0].node == -1);
  CHECK(c->metrics()[0].value == 2.5);
  CHECK(c->metrics()[1].node == 0);
  CHECK(std::isnan(c->metrics()[1].value));
  REQUIRE(c->seen(c->inputs(0)[1]));
  CHECK(c->seen(c->inputs(0)[1])->slots == std::vector<std::int32_t>{0, 15, 18, 18});
  CHECK(c->seen(c->inputs(0)[0])->slots == std::vector<std::int32_t>{0, 0});
  InputRow other = c->inputs(0)[1];
  other.forward = 1;
  CHECK(c->seen(other) == nullptr);
  CHECK(c->rows_in("seen") == 2);
  CHECK(c->rows_in("candidate") == 0);
  CHECK(c->rows_in("no such table") == 0);
  for (const char* bad :
       {"5-3", "3,2", "1,", ",1", "a", "1-", "1--2", "-1", "3,3", "5000000", "1 2"}) {
    CAPTURE(bad);
    run_sql(path, std::string("UPDATE seen SET slots='") + bad + "' WHERE id=2");
    CHECK_THROWS_WITH(Capture::open(path),
                      doctest::Contains("expected ascending slots as 0-15,18"));
  }
  run_sql(path, "UPDATE seen SET slots='' WHERE id=2");
  CHECK(Capture::open(path)->seen(c->inputs(0)[1])->slots.empty());
}

TEST_CASE(
    "open format: the SQL that makes an empty capture makes one, and checks what is inserted") {
  const TempDir dir;
  const std::string path = dir.path() / "empty.tscap";
  run_sql(path, schema_sql());
  run_sql(path,
          "INSERT INTO run (method) VALUES ('mine');"
          "INSERT INTO node (parent, tick) VALUES (-1, 0)");
  const auto c = Capture::open(path);
  CHECK(c->run().method == "mine");
  CHECK(c->nodes().size() == 1);
  const auto refused = [&](const char* sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    const int code = sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
    sqlite3_close(db);
    return code == SQLITE_CONSTRAINT;
  };
  CHECK(refused("INSERT INTO verdict (tick, node, verdict) VALUES (2, 0, 'acepted')"));
  CHECK(refused("INSERT INTO verdict (tick, node) VALUES (2, 0)"));
  CHECK(refused("INSERT INTO slot (tick, action, slot, node) VALUES (1, 'alloc', -1, 0)"));
  CHECK_FALSE(refused("INSERT INTO verdict (tick, node, verdict) VALUES (2, 0, 'accepted')"));
}

TEST_CASE("open format: docs/capture.md lists every table and column as the program has them") {
  const std::string page = read_file(source_dir() / "docs" / "capture.md");
  CHECK(page.find(schema_markdown()) != std::string::npos);
}

}  // namespace
}  // namespace triescope::test::test_open_format
