// Captures of schema 1 open, answer at every cursor, take bookmarks and give slices.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/capture/capture.h"
#include "core/capture/schema.h"
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
    const auto c = Capture::open(copy_of_schema1(name, dir));
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

TEST_CASE("schema 1: figures of a capture known by heart") {
  const TempDir dir;
  const auto c = Capture::open(copy_of_schema1("beam", dir));
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
    const std::string path = copy_of_schema1(name, dir), part = dir.path() / "part.tscap";
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
  const std::string path = copy_of_schema1("typical", dir);
  run_sql(path, "PRAGMA user_version=2");
  CHECK_THROWS_WITH_AS(Capture::open(path), doctest::Contains("that no capture has"), Error);
  run_sql(path, "PRAGMA user_version=0");
  CHECK_THROWS_WITH_AS(Capture::open(path), doctest::Contains("expected a schema from 1 to 2"),
                       Error);
  run_sql(path, "PRAGMA user_version=1; ALTER TABLE slot ADD COLUMN whose INTEGER");
  CHECK_THROWS_WITH_AS(Capture::open(path), doctest::Contains("'slot' that no capture has"), Error);
}

TEST_CASE("schema: each names its tables and columns once, and schema 1 those it always had") {
  for (int schema = 1; schema <= kSchemaVersion; ++schema) {
    std::set<std::string> names;
    for (const Table& table : tables(schema)) {
      CHECK(names.insert(table.name).second);
      CHECK((table.time_column == nullptr) == (table.sliced == Sliced::kAll));
    }
    CHECK(names.size() == 15);
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
    if (c->schema() == 2) CHECK(c->owners() == std::vector<Whose>{Whose::kTarget, Whose::kDraft});
  }
  CHECK(schemas == std::set<int>{1, 2});
}

}  // namespace
}  // namespace triescope::test
