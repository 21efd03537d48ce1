// Files that are not captures, damaged or hostile ones, and disks that are full.
#include <doctest/doctest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "core/base/error.h"
#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/sql.h"
#include "tests/unit/capture/answers.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test {
namespace {

namespace fs = std::filesystem;

std::string made(const TempDir& dir, const char* name = "run.tscap") {
  const std::string path = dir.path() / name;
  const auto recorder = open_recorder(path);
  record_sample(*recorder, 40, 3);
  return path;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The error of opening it: its code, and that its message says `part`.
void check_refused(const std::string& path, ErrorCode code, const std::string& part) {
  try {
    Capture::open(path);
    FAIL_CHECK("was opened: " << path);
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(error.code() == code);
    CHECK(std::string(error.what()).find(part) != std::string::npos);
    CHECK(std::string(error.what()).find(path) != std::string::npos);
  }
}

TEST_CASE("capture: what is not a capture is refused with what was found") {
  TempDir dir;
  const std::string path = dir.path() / "x.tscap";
  check_refused(path, ErrorCode::kNotFound, "no such file");
  write_text(path, "");
  check_refused(path, ErrorCode::kCorruption, "0 bytes");
  write_text(path, std::string(5000, 'x'));
  check_refused(path, ErrorCode::kCorruption, "not a capture");
  fs::remove(path);
  run_sql(path, "CREATE TABLE step (id INTEGER PRIMARY KEY, accepted INTEGER)");
  check_refused(path, ErrorCode::kCorruption, "not a capture of triescope");
  check_refused(dir.path(), ErrorCode::kCorruption, "not a regular file");
}

TEST_CASE("capture: a newer format is refused, naming both versions; one before the first too") {
  TempDir dir;
  const std::string path = made(dir);
  run_sql(path, "PRAGMA user_version=7");
  check_refused(path, ErrorCode::kNotSupported, "format 7");
  check_refused(path, ErrorCode::kNotSupported, "up to 1");
  run_sql(path, "PRAGMA user_version=0");
  check_refused(path, ErrorCode::kCorruption, "expected a format from 1 to 1");
}

TEST_CASE(
    "capture: a trigger, a virtual table, a computed column or a view as a table is refused") {
  TempDir dir;
  const std::pair<const char*, const char*> cases[] = {
      {"CREATE TRIGGER evil AFTER INSERT ON bookmark BEGIN DELETE FROM node; END",
       "a trigger 'evil'"},
      {"CREATE TABLE mine (x); CREATE TRIGGER evil AFTER INSERT ON mine BEGIN SELECT 1; END",
       "a trigger 'evil'"},
      {"DROP TABLE log; CREATE VIEW log AS SELECT 1 AS id, 1 AS tick, 1 AS level, 'x' AS text",
       "expected a plain table 'log', found a view"},
      {"DROP TABLE log; CREATE VIEW LOG AS SELECT 1 AS tick", "found a view"},
      {"DROP TABLE log; CREATE VIRTUAL TABLE log USING fts5(tick, text)", "a virtual table"},
      {"DROP TABLE log; CREATE INDEX log ON node (tick)", "found a index"},
      {"DROP TABLE log; CREATE TABLE log (tick, text AS (printf('%.*c', 1000000, 'x')))",
       "table log, column text: expected stored values"},
      {"DROP TABLE log; CREATE TABLE log (tick, text AS (upper(tick)) STORED)",
       "expected stored values"},
      {"DROP TABLE log; CREATE TABLE log (rowid, tick, text)", "expected no column 'rowid'"},
      {"DROP TABLE log; CREATE TABLE log (tick PRIMARY KEY, text) WITHOUT ROWID", "not a capture"}};
  for (const auto& [sql, part] : cases) {
    CAPTURE(sql);
    const std::string path = made(dir);
    run_sql(path, sql);
    check_refused(path, ErrorCode::kCorruption, part);
  }
}

TEST_CASE("capture: a table without a column that it needs is refused, naming both") {
  TempDir dir;
  for (const auto& [table, column] : {std::pair("verdict", "verdict"),
                                      {"node", "parent"},
                                      {"slot", "slot"},
                                      {"phase", "tick"},
                                      {"run", "method"}}) {
    const std::string path = made(dir), sql = std::string("ALTER TABLE ") + table +
                                              " RENAME COLUMN " + column + " TO other";
    CAPTURE(sql);
    run_sql(path, "DROP VIEW named_verdict; DROP VIEW named_node");
    run_sql(path, sql);
    check_refused(path, ErrorCode::kCorruption,
                  std::string("table ") + table + ": expected a column '" + column + "'");
  }
  const std::string path = made(dir);
  run_sql(path, "DROP TABLE run");
  check_refused(path, ErrorCode::kCorruption, "expected a table 'run'");
}

TEST_CASE("capture: hostile numbers are refused, with table and row") {
  TempDir dir;
  const std::pair<const char*, const char*> cases[] = {
      {"UPDATE node SET parent=node WHERE node=9", "table node, row 10"},
      {"UPDATE node SET parent=-5 WHERE node=9", "table node, row 10: parent"},
      {"UPDATE node SET parent=-1 WHERE node=9", "parent: expected 0 to 8, found -1"},
      {"UPDATE node SET node=9000000000 WHERE node=9",
       "table node, row 10: node: expected 9 to 9, found 9000000000"},
      {"UPDATE node SET depth=2000000000 WHERE node=9", "depth"},
      {"UPDATE node SET depth=depth-1 WHERE node=40", "table node, row 41: depth: expected"},
      {"UPDATE node SET token=-2 WHERE node=9", "token"},
      {"UPDATE node SET source=200 WHERE node=9", "source"},
      {"UPDATE node SET tick=0 WHERE node=20", "or later, found 0"},
      {"UPDATE node SET tick=-1 WHERE node=0", "tick"},
      {"UPDATE slot SET slot=9223372036854775807 WHERE id=4", "table slot, row 4: slot"},
      {"UPDATE slot SET slot=-1 WHERE id=4", "slot"},
      {"UPDATE slot SET node=-5 WHERE id=4", "node: expected -4 to"},  // three prompt tokens
      {"UPDATE slot SET action=5 WHERE id=4", "action"},
      {"UPDATE slot SET from_slot=1e18 WHERE id=4", "from_slot"},
      {"UPDATE verdict SET node=100000 WHERE id=3", "table verdict, row 3: node"},
      {"UPDATE verdict SET node=(SELECT count(*) FROM node) WHERE id=3",
       "row 3: node: expected 0 to"},
      {"UPDATE verdict SET verdict='acepted' WHERE id=3",
       "verdict: expected one of none, accepted, rejected, kept, pruned, finished, bonus, "
       "corrected, emitted, withdrawn; found 'acepted'"},
      {"UPDATE verdict SET verdict=NULL WHERE id=3", "verdict: expected a value, found NULL"},
      {"UPDATE node SET tick=NULL WHERE node=9", "tick: expected a value, found NULL"},
      {"UPDATE node SET parent=NULL WHERE node=9", "parent: expected a value, found NULL"},
      {"UPDATE node SET drafter=1 WHERE node=9", "drafter: expected -1 to 0, found 1"},
      {"UPDATE node SET drafter=-2 WHERE node=9", "drafter: expected -1 to 0, found -2"},
      {"UPDATE node SET role='probing' WHERE node=9", "expected one of candidate, probe"},
      {"UPDATE drafter SET drafter=1", "table drafter, row 1: drafter: expected 0 to 0, found 1"},
      {"UPDATE drafter SET kind=''", "kind: expected one of model, head, text, other; found ''"},
      {"UPDATE log SET level=7 WHERE id=1", "expected one of debug, info, warning, error"},
      {"UPDATE run SET kind='trie'", "kind: expected one of text, drafts, beams; found 'trie'"},
      {"UPDATE run SET width=0", "width: expected 1 to"},
      {"UPDATE verdict SET tick=1 WHERE id=9", "tick"},
      {"UPDATE frontier SET node=-1 WHERE id=3", "node"},
      {"UPDATE frontier SET step=0 WHERE id=30", "step"},
      {"UPDATE candidate SET node=-1 WHERE id=3", "node"},
      {"UPDATE candidate SET rank=-1 WHERE id=3", "rank"},
      {"UPDATE input SET node=123456 WHERE id=3", "node"},
      {"UPDATE input SET position=-1 WHERE id=3", "position"},
      {"UPDATE input SET whose=3 WHERE id=3",
       "table input, row 3: whose: expected one of target, draft, head; found '3'"},
      {"UPDATE input SET forward=-1 WHERE id=3", "row 3: forward: expected 0 to 100000000"},
      {"UPDATE input SET forward=1 WHERE id=2", "row 3: forward: expected 1 to 100000000, found 0"},
      {"UPDATE candidate SET whose=-1 WHERE id=3", "table candidate, row 3: whose"},
      {"UPDATE slot SET whose=3 WHERE id=3", "table slot, row 3: whose"},
      {"UPDATE memory SET whose=3 WHERE id=3", "table memory, row 3: whose"},
      {"UPDATE node_score SET node=-1 WHERE id=1", "node"},
      {"UPDATE sequence SET node=123456 WHERE id=1", "node"},
      {"UPDATE sequence SET node=-1 WHERE id=1", "row 1: node: expected 0 to"},
      {"UPDATE sequence SET tokens='[-1]' WHERE id=1", "tokens: expected 0 to"},
      {"UPDATE sequence SET tokens='[1, 2' WHERE id=1", "expected token ids as [1, 2, 3]"},
      {"UPDATE sequence SET tokens='1, 2' WHERE id=1", "found '1, 2'"},
      {"UPDATE sequence SET tokens='[1 2]' WHERE id=1", "found '[1 2]'"},
      {"UPDATE sequence SET tokens='[1,]' WHERE id=1", "found '[1,]'"},
      {"UPDATE sequence SET tokens='[1] x' WHERE id=1", "found '[1] x'"},
      {"UPDATE sequence SET tokens='[1.5]' WHERE id=1", "found '[1.5]'"},
      {"UPDATE sequence SET tokens='[99999999999999999999]' WHERE id=1", "tokens"},
      {"UPDATE step SET step=3 WHERE id=9", "step: expected 8 to 100000000, found 3"},
      {"UPDATE step SET accepted=-1 WHERE id=9", "accepted"},
      {"UPDATE memory SET reserved=-1 WHERE id=9", "reserved"},
      {"UPDATE phase SET tick=0 WHERE id=9",
       "table phase, row 9: tick: expected later than 7, found 0"},
      {"UPDATE phase SET tick=7 WHERE id=9", "tick: expected later than 7, found 7"},
      {"UPDATE phase SET tick=9223372036854775807 WHERE id=9", "tick"},
      {"UPDATE piece SET token=-1 WHERE id=1", "token"},
      {"UPDATE run SET status=17", "status"},
      {"UPDATE run SET sliding_window=-1", "sliding_window"},
      {"UPDATE run SET prompt_tokens='[-2147483648]'", "tokens"},
  };
  const std::string good = read_file(made(dir, "good.tscap"));
  for (const auto& [sql, part] : cases) {
    const std::string path = dir.path() / "bad.tscap";
    write_text(path, good);
    run_sql(path, sql);
    INFO(sql);
    check_refused(path, ErrorCode::kCorruption, part);
  }
}

TEST_CASE("capture: a file that shrinks or vanishes while it is open gives an error, no signal") {
  const TempDir dir;
  for (const std::uintmax_t size : {0u, 100u, 512u, 5000u}) {
    CAPTURE(size);
    const std::string path = made(dir, ("run" + std::to_string(size) + ".tscap").c_str());
    const auto capture = Capture::open(path);
    const Counts before = capture->counts();
    fs::resize_file(path, size);
    try {
      capture->poll();
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(path) != std::string::npos);
    }
    CHECK(capture->counts().nodes == before.nodes);  // what was read stays
    CHECK_THROWS_AS(Capture::open(path), Error);
  }
  const std::string path = made(dir, "gone.tscap");
  const auto capture = Capture::open(path);
  fs::remove(path);
  CHECK_NOTHROW(capture->poll());
  CHECK_THROWS_AS(Capture::open(path), Error);
}

TEST_CASE("capture: a page that is pointed to twice is damage, not the same rows again") {
  const TempDir dir;
  const std::string path = made(dir);
  run_sql(path, "PRAGMA journal_mode=DELETE; PRAGMA page_size=512; VACUUM");
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE rootpage > 0", -1, &statement,
                     nullptr);
  std::vector<std::size_t> roots;
  while (sqlite3_step(statement) == SQLITE_ROW)
    roots.push_back(static_cast<std::size_t>(sqlite3_column_int(statement, 0)));
  sqlite3_finalize(statement);
  sqlite3_close(db);
  std::string bytes = read_file(path);
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])) << 8 |
           static_cast<unsigned char>(bytes[at + 1]);
  };
  const std::size_t page_size = number(16);
  int changed = 0;
  for (const std::size_t root : roots) {
    const std::size_t page = (root - 1) * page_size;
    // An interior page: its last child becomes its first.
    if (bytes[page] != 5 || number(page + 3) < 1) continue;
    const std::size_t first = page + number(page + 12);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), 4,
                bytes.begin() + static_cast<std::ptrdiff_t>(page + 8));
    ++changed;
  }
  REQUIRE(changed > 0);
  write_text(path, bytes);
  check_refused(path, ErrorCode::kCorruption, "comes after row");
}

TEST_CASE("capture: JSON nested without end is refused before anything walks it") {
  const TempDir dir;
  for (const char* column : {"model_json", "settings_json", "versions_json"}) {
    const std::string path = made(dir, (std::string(column) + ".tscap").c_str());
    run_sql(path, std::string("UPDATE run SET ") + column + "='" + std::string(100'000, '[') + "'");
    check_refused(path, ErrorCode::kCorruption, column);
    // Brackets within a text are a text.
    run_sql(path, std::string("UPDATE run SET ") + column + "='{\"a\":\"" + std::string(1000, '[') +
                      "\\\"" + std::string(1000, '{') + "\"}'");
    CHECK_NOTHROW(Capture::open(path));
    // 64 deep is as deep as it goes; what a text closes stays open.
    const auto nested = [&](int depth) {
      run_sql(path, std::string("UPDATE run SET ") + column + "='[\"]]]}\"," +
                        std::string(static_cast<std::size_t>(depth) - 1, '[') + "'");
    };
    nested(64);
    CHECK_NOTHROW(Capture::open(path));
    nested(65);
    check_refused(path, ErrorCode::kCorruption, "expected JSON nested at most 64 deep");
  }
}

TEST_CASE("capture: truncated and overwritten files are refused or read, never worse") {
  TempDir dir;
  const std::string path = made(dir), good = read_file(path), bad = dir.path() / "bad.tscap";
  for (std::size_t size = 512; size < good.size(); size += 4096 + 512) {
    INFO("first " << size << " bytes");
    write_text(bad, good.substr(0, size));
    check_refused(bad, ErrorCode::kCorruption, "bad.tscap");
  }
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    INFO("damage " << i);
    std::string text = good;
    const std::size_t count = 1 + random() % 64, at = random() % (text.size() - count);
    for (std::size_t k = 0; k < count; ++k) text[at + k] = static_cast<char>(random());
    write_text(bad, text);
    try {
      const auto c = Capture::open(bad);
      for (Tick cursor = 0; cursor <= std::min<Tick>(c->end_tick(), 1000); cursor += 37)
        answers_at(*c, cursor);
    } catch (const Error& error) {
      const bool told =
          error.code() == ErrorCode::kCorruption || error.code() == ErrorCode::kNotSupported;
      INFO(error.what());
      CHECK(told);
    }
  }
}

TEST_CASE("recorder: what is not a capture, or is being recorded, is never overwritten") {
  TempDir dir;
  const std::string thesis = dir.path() / "thesis.tscap", database = dir.path() / "other.db";
  write_text(thesis, std::string(3000, 'y'));
  CHECK_THROWS_AS(open_recorder(thesis), Error);
  CHECK(read_file(thesis) == std::string(3000, 'y'));
  write_text(thesis, "");
  CHECK_THROWS_AS(open_recorder(thesis), Error);
  run_sql(database, "CREATE TABLE mine (x)");
  const std::string before = read_file(database);
  CHECK_THROWS_AS(open_recorder(database), Error);
  CHECK(read_file(database) == before);

  const std::string path = made(dir);
  CHECK_THROWS_AS(open_recorder(path, {.overwrite = false}), Error);
  CHECK(Capture::open(path)->last_step() == 39);
  const auto recorder = open_recorder(path);  // a finished capture may be replaced
  CHECK(Capture::open(path)->last_step() == -1);
  CHECK_THROWS_WITH_AS(open_recorder(path), doctest::Contains("is being recorded"), Error);
}

TEST_CASE("recorder: a capture's name is a file's, whatever SQLite takes it for") {
  TempDir dir;
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  for (const std::string name :
       {":memory:", " ", "file:x?mode=memory", "file::memory:", "file:y.tscap", "a?b#c%41.tscap"}) {
    CAPTURE(name);
    record_sample(*open_recorder(name), 40, 3);
    CHECK(fs::is_regular_file(name));
    CHECK(Capture::open(name)->last_step() == 39);
    const std::string part = name + "-part";
    save_slice(name, part, 3, 5);
    CHECK(fs::is_regular_file(part));
    CHECK(Capture::open(part)->last_step() == 5);
    fs::remove(name);
    check_refused(name, ErrorCode::kNotFound, "no such file");
  }
  fs::current_path(before);
  CHECK_THROWS_WITH_AS(open_recorder(""), doctest::Contains("empty"), Error);
  const std::string slashes = "//" + (dir.path() / "two.tscap").string();
  record_sample(*open_recorder(slashes), 40, 3);
  CHECK(Capture::open(slashes)->last_step() == 39);
}

TEST_CASE("recorder: a folder that does not exist is an input/output error that says so") {
  TempDir dir;
  try {
    open_recorder(dir.path() / "no" / "such" / "run.tscap");
    FAIL_CHECK("was opened");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kIoError);
    CHECK(std::string(error.what()).find("a folder that exists") != std::string::npos);
  }
}

TEST_CASE("recorder: a full disk is told once, and what was committed stays readable") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const auto recorder = open_recorder(path);
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit full = old;
  full.rlim_cur = 400'000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &full) == 0);
  int told = 0;
  ErrorCode code{};
  Tick committed = -1;
  try {
    record_sample(*recorder, 5000, 3, [&](Tick tick) {
      recorder->flush();
      committed = tick;
    });
  } catch (const Error& error) {
    ++told;
    code = error.code();
  }
  // Afterwards the recorder is closed, and silent.
  try {
    recorder->write({.log = {{.text = "more"}}});
    recorder->flush();
    recorder->write({.finish = Finish{RunStatus::kFailed, "disk full"}});
  } catch (const Error&) {
    ++told;
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, old_handler);
  CHECK(told == 1);
  CHECK(code == ErrorCode::kIoError);
  REQUIRE(committed > 0);
  const auto c = Capture::open(path);
  CHECK(c->end_tick() == committed + 1);
  CHECK(c->status() != RunStatus::kDone);
}

}  // namespace
}  // namespace triescope::test
