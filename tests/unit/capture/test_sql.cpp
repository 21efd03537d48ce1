// The capture as people query it: names beside the codes, and views that speak them.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/schema.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test::test_sql {
namespace {

// The rows of a query, their values with a bar between.
std::vector<std::string> rows_of(const std::string& path, const std::string& sql) {
  std::vector<std::string> rows;
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  const auto add = [](void* to, int count, char** values, char**) {
    std::string row;
    for (int i = 0; i < count; ++i)
      row += (i > 0 ? "|" : "") + std::string(values[i] ? values[i] : "");
    static_cast<std::vector<std::string>*>(to)->push_back(row);
    return 0;
  };
  char* error = nullptr;
  CHECK_MESSAGE(sqlite3_exec(db, sql.c_str(), add, &rows, &error) == SQLITE_OK, sql);
  sqlite3_free(error);
  sqlite3_close(db);
  return rows;
}

std::string made(const TempDir& dir) {
  const std::string path = dir.path() / "run.tscap";
  record_sample(*open_recorder(path), 6, 3);
  return path;
}

TEST_CASE("sql: codes stand in the file by their names") {
  const TempDir dir;
  const std::string path = made(dir);
  using Rows = std::vector<std::string>;
  CHECK(rows_of(path, "SELECT status, kind, width FROM run") == Rows{"done|beams|3"});
  CHECK(rows_of(path, "SELECT DISTINCT source FROM node ORDER BY source") ==
        Rows{"beam", "draft", "prompt"});
  CHECK(rows_of(path, "SELECT DISTINCT whose FROM candidate") == Rows{"target"});
  CHECK(rows_of(path, "SELECT DISTINCT action FROM slot ORDER BY action") ==
        Rows{"alloc", "free", "garbage", "reuse"});
  CHECK(rows_of(path, "SELECT DISTINCT level FROM log") == Rows{"warning"});
  CHECK(rows_of(path, "SELECT name, version, command FROM program") ==
        Rows{"triescope|0|triescope decode"});
  CHECK(rows_of(path, "SELECT * FROM drafter") == Rows{"1|0|n-gram trie|N-gram trie|text"});
}

TEST_CASE("sql: views give every row once, in words, and decode_step leaves prefill out") {
  const TempDir dir;
  const std::string path = made(dir);
  const auto run = Capture::open(path);
  std::vector<std::string> verdicts, nodes, steps;
  for (const StepRow& step : run->steps()) {
    if (step.step > 0)
      steps.push_back(std::to_string(step.step) + "|" + std::to_string(step.accepted));
    for (const VerdictRow& row : run->verdicts(step.step)) {
      const NodeRow& node = run->nodes()[static_cast<std::size_t>(row.node)];
      verdicts.push_back(std::to_string(step.step) + "|" + to_string(phase_of(row.tick)) + "|" +
                         std::to_string(row.node) + "|" + std::to_string(node.depth) + "|" +
                         to_string(node.source) + "|" + to_string(row.verdict) + "|" +
                         to_string(row.reason));
    }
  }
  for (const NodeRow& node : run->nodes())
    nodes.push_back(std::to_string(node.node) + "|" + to_string(node.source) + "|" +
                    (node.token < 0 ? "" : std::string(run->piece(node.token))));
  REQUIRE(verdicts.size() > 10);
  auto found = rows_of(path,
                       "SELECT step, phase, node, depth, source, verdict, reason "
                       "FROM named_verdict");
  std::ranges::sort(found);
  std::ranges::sort(verdicts);
  CHECK(found == verdicts);
  CHECK(rows_of(path, "SELECT node, source, text FROM named_node ORDER BY node") == nodes);
  CHECK(rows_of(path, "SELECT step, accepted FROM decode_step ORDER BY step") == steps);
}

TEST_CASE("sql: a slice has the views too; a view of the file's own is not run") {
  const TempDir dir;
  const std::string path = made(dir), part = dir.path() / "part.tscap";
  save_slice(path, part, 2, 4);
  CHECK(rows_of(part, "SELECT count(*) FROM decode_step") == std::vector<std::string>{"3"});
  CHECK(rows_of(part, "SELECT name FROM drafter") == std::vector<std::string>{"n-gram trie"});
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, "DROP VIEW decode_step; CREATE VIEW decode_step AS SELECT * FROM step",
                     nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
  CHECK(Capture::open(path)->last_step() == 5);
}

}  // namespace
}  // namespace triescope::test::test_sql
