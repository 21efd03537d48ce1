// Rows that are copied from a growing capture into another.
#include <doctest/doctest.h>

#include <functional>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/capture/capture.h"
#include "core/capture/row_bytes.h"
#include "core/capture/row_stream.h"
#include "core/capture/schema.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/sql.h"
#include "tests/support/table_dump.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test_row_stream {
namespace {

using namespace triescope::test;

// Copies everything that the feed has.
void pump(capture::RowFeed& feed, capture::RowCopy& copy, std::size_t most = 1 << 20) {
  while (const auto piece = feed.next(most)) copy.write(*piece);
}

struct Files {
  TempDir folder;
  std::string from = folder.path() / "from.tscap", to = folder.path() / "to.tscap";
};

// A piece with one table of one column.
capture::RowPiece piece_of(const std::string& table, const std::string& column,
                           const std::function<void(capture::ByteWriter&)>& rows) {
  capture::ByteWriter to;
  to.text(table);
  to.number(1);
  to.text(column);
  rows(to);
  to.byte(0);
  return {to.bytes, true};
}

TEST_CASE("row stream: the copy of a growing capture holds the same rows, phase by phase") {
  Files files;
  auto recorder = capture::open_recorder(files.from);
  capture::RowFeed feed(files.from);
  capture::RowCopy copy(files.to);
  std::unique_ptr<capture::Capture> reader;
  record_sample(*recorder, 6, 3, [&](capture::Tick tick) {
    recorder->flush();
    pump(feed, copy);
    REQUIRE(copy.has_run());
    if (!reader) reader = capture::Capture::open(files.to);
    reader->poll();
    CHECK(reader->end_tick() == tick + 1);
    CHECK(reader->status() == capture::RunStatus::kRunning);
  });
  recorder.reset();
  CHECK(!copy.ended());
  pump(feed, copy);
  CHECK(copy.ended());
  CHECK(!feed.next());
  check_same_tables(files.from, files.to);
  reader->poll();
  CHECK(reader->status() == capture::RunStatus::kDone);
}

TEST_CASE("row stream: every table and column is copied, whatever it holds") {
  Files files;
  capture::open_recorder(files.from).reset();
  const char* const values[] = {"7", "-1.5", "'text'", "x'00ff'", "NULL"};
  std::size_t next = 0;
  for (const capture::Table& table : capture::tables()) {
    if (table.name == "run" || table.name == "bookmark") continue;
    for (int id = 1; id <= 5; ++id) {
      std::string row = std::to_string(id);
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        row += std::string(", ") + values[(next++) % std::size(values)];
      run_sql(files.from, "INSERT INTO " + table.name + " VALUES (" + row + ")");
    }
    ++next;
  }
  capture::RowFeed feed(files.from);
  capture::RowCopy copy(files.to);
  pump(feed, copy, 40);
  check_same_tables(files.from, files.to);
  for (const auto& [table, lines] : table_dump(files.to)) {
    INFO("table " << table);
    CHECK((table == "bookmark") == lines.empty());
  }
}

TEST_CASE("row stream: a copy that is cut off at any piece goes on from its marks") {
  Files files;
  auto recorder = capture::open_recorder(files.from);
  capture::RowCopy copy(files.to);
  auto feed = std::make_unique<capture::RowFeed>(files.from);
  Rng rng(5);
  int cuts = 0;
  const auto some = [&] {
    // Small pieces, so that snapshots are cut within and between tables.
    while (const auto piece = feed->next(64)) {
      if (rng.uniform() < 0.2) {
        copy.rewind();
        feed = std::make_unique<capture::RowFeed>(files.from, copy.marks());
        ++cuts;
        return;
      }
      copy.write(*piece);
    }
  };
  record_sample(*recorder, 8, 3, [&](capture::Tick) {
    recorder->flush();
    some();
  });
  recorder.reset();
  CHECK(cuts > 10);
  pump(*feed, copy, 64);
  check_same_tables(files.from, files.to);
}

TEST_CASE("row stream: a reader of the copy sees a snapshot whole or not at all") {
  Files files;
  record_sample(*capture::open_recorder(files.from), 5, 3);
  capture::RowFeed feed(files.from);
  capture::RowCopy copy(files.to);
  int pieces = 0;
  while (const auto piece = feed.next(200)) {
    CHECK(table_dump(files.to)["node"].empty());
    copy.write(*piece);
    ++pieces;
    if (piece->last) break;
  }
  CHECK(pieces > 5);
  check_same_tables(files.from, files.to);
}

TEST_CASE("row stream: a copy that is closed early says why it ends") {
  Files files;
  {
    auto recorder = capture::open_recorder(files.from);
    record_sample(*recorder, 2, 2, {}, /*finish=*/false);
    recorder->flush();
    capture::RowFeed feed(files.from);
    capture::RowCopy copy(files.to);
    pump(feed, copy);
    copy.close("the line broke");
    CHECK_THROWS_AS(copy.write({}), Error);
  }
  const auto reader = capture::Capture::open(files.to);
  CHECK(reader->status() == capture::RunStatus::kStopped);
  CHECK(reader->status_message() == "the line broke");
}

TEST_CASE("row stream: unknown tables and columns are left out") {
  Files files;
  capture::RowCopy copy(files.to);
  const auto text = [](std::string_view value) {
    return [value](capture::ByteWriter& to) {
      to.number(1);
      to.byte(static_cast<std::uint8_t>(capture::ValueKind::kText));
      to.text(value);
    };
  };
  copy.write(piece_of("node; DROP TABLE node", "a", text("x")));
  copy.write(piece_of("bookmark", "note", text("x")));
  copy.write(piece_of("log", "text) VALUES (1); --", text("x")));
  CHECK(table_dump(files.to)["bookmark"].empty());
  CHECK(copy.marks() == capture::StreamMarks{{"log", 1}});
}

TEST_CASE("row stream: bytes that are no piece are refused and leave nothing") {
  Files files;
  capture::RowCopy copy(files.to);
  const auto refused = [&](const capture::RowPiece& piece) {
    return refusal(ErrorCode::kCorruption, [&] { copy.write(piece); });
  };
  const auto null_row = [](std::uint64_t id) {
    return [id](capture::ByteWriter& to) { to.number(id), to.byte(0); };
  };
  copy.write(piece_of("log", "text", null_row(5)));
  CHECK(has(refused(piece_of("log", "text", null_row(5))), "row 5 comes after row 5"));
  CHECK(has(refused(piece_of("log", "text", null_row(std::uint64_t{1} << 63))), "comes after"));
  CHECK(has(refused(piece_of("run", "method", null_row(2))), "a second run"));
  CHECK(has(refused({"\x03log\x41", true}), "65 columns"));
  CHECK(has(refused({"\x03log", true}), "ends too early"));
  CHECK(has(refused({"\x05log", true}), "ends within a text"));
  CHECK(has(refused({std::string(11, '\xff'), true}), "64 bits"));
  CHECK(
      has(refused(piece_of("log", "text", [](auto& to) { to.number(6), to.byte(9); })), "kind 9"));
  CHECK(has(refused(piece_of(
                "log", "text",
                [](auto& to) { to.number(6), to.byte(3), to.number(capture::kMaxValueSize + 1); })),
            "expected 67108864 at most"));
  CHECK(copy.marks() == capture::StreamMarks{{"log", 5}});
  copy.write(piece_of("log", "text", null_row(6)));  // and it goes on
  CHECK(copy.marks() == capture::StreamMarks{{"log", 6}});
}

TEST_CASE("row stream: whole numbers of any size survive") {
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    capture::ByteWriter to;
    to.signed_number(value);
    CHECK(capture::ByteReader(to.bytes).signed_number() == value);
  }
}

}  // namespace
}  // namespace triescope::test_row_stream
