#include <utility>
#include <vector>

#include "core/capture/row_bytes.h"
#include "core/capture/row_stream.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

bool is_streamed(const Table& table) {
  return table.name != "run" && table.name != RowType<Bookmark>::kTable;
}

std::string joined_columns(const Table& table) {
  std::string names;
  for (const std::string& column : table.columns) names += ", " + column;
  return names;
}

void put_value(ByteWriter& to, const Statement& row, int column) {
  const auto kind = [&](ValueKind value) { to.byte(static_cast<std::uint8_t>(value)); };
  switch (row.type(column)) {
    case SQLITE_INTEGER:
      kind(ValueKind::kInteger);
      to.signed_number(row.integer(column));
      break;
    case SQLITE_FLOAT:
      kind(ValueKind::kNumber);
      to.real(row.number(column));
      break;
    case SQLITE_TEXT:
      kind(ValueKind::kText);
      to.text(row.text_view(column));
      break;
    case SQLITE_BLOB: {
      kind(ValueKind::kBytes);
      const auto blob = row.blob(column);
      to.text({reinterpret_cast<const char*>(blob.data()), blob.size()});
      break;
    }
    default:
      kind(ValueKind::kNull);
  }
}

void put_heading(ByteWriter& to, const Table& table) {
  to.text(table.name);
  to.number(table.columns.size());
  for (const std::string& column : table.columns) to.text(column);
}

void put_row(ByteWriter& to, const Statement& row, const Table& table) {
  to.number(static_cast<std::uint64_t>(row.integer(0)));
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    put_value(to, row, static_cast<int>(i) + 1);
}

}  // namespace

struct RowFeed::Impl {
  // One table on its way: what was sent of it, and how far the present snapshot goes.
  struct Stream {
    const Table* table;
    std::unique_ptr<Statement> last, rows;
    std::int64_t sent = 0, until = 0;
  };

  Impl(const std::string& path, const StreamMarks& marks)
      : db(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX) {
    for (const Table& table : tables()) {
      if (table.name == "run") run_table = &table;
      if (!is_streamed(table)) continue;
      const auto mark = marks.find(table.name);
      streams.push_back(
          {&table,
           std::make_unique<Statement>(db, ("SELECT max(rowid) FROM " + table.name).c_str()),
           std::make_unique<Statement>(
               db, ("SELECT rowid" + joined_columns(table) + " FROM " + table.name +
                    " WHERE rowid > ? AND rowid <= ? ORDER BY rowid")
                       .c_str()),
           mark == marks.end() ? 0 : mark->second});
    }
    run = std::make_unique<Statement>(
        db, ("SELECT rowid" + joined_columns(*run_table) + " FROM run LIMIT 1").c_str());
  }

  // The run's row as bytes; "" = it is not there yet.
  std::string run_bytes() {
    ByteWriter to;
    while (run->next()) {
      put_heading(to, *run_table);
      put_row(to, *run, *run_table);
      to.byte(0);
    }
    return std::move(to.bytes);
  }

  // Looks how far the file goes now, in one transaction. False: no further than what was sent.
  bool look() {
    db.execute("BEGIN");
    bool any = false;
    try {
      for (Stream& stream : streams) {
        while (stream.last->next()) stream.until = stream.last->integer(0);
        any |= stream.until > stream.sent;
      }
      run_now = run_bytes();
      db.execute("COMMIT");
    } catch (...) {
      sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
    return any || run_now != run_sent;
  }

  // Appends rows of one table until `to` holds more than `most` bytes. False: some are left.
  bool put_rows(ByteWriter& to, Stream& stream, std::size_t most) {
    if (stream.sent >= stream.until) return true;
    put_heading(to, *stream.table);
    stream.rows->bind(stream.sent).bind(stream.until);
    bool all = true;
    while (stream.rows->next()) {
      put_row(to, *stream.rows, *stream.table);
      stream.sent = stream.rows->integer(0);
      if (to.bytes.size() <= most || stream.sent >= stream.until) continue;
      all = false;
      stream.rows->rewind();
      break;
    }
    to.byte(0);
    return all;
  }

  Database db;
  const Table* run_table = nullptr;
  std::vector<Stream> streams;
  std::unique_ptr<Statement> run;
  std::string run_sent, run_now;
  bool under_way = false;  // a snapshot has pieces left
};

RowFeed::RowFeed(const std::string& path, StreamMarks marks)
    : impl_(std::make_unique<Impl>(path, marks)) {}
RowFeed::~RowFeed() = default;
RowFeed::RowFeed(RowFeed&&) noexcept = default;
RowFeed& RowFeed::operator=(RowFeed&&) noexcept = default;

std::optional<RowPiece> RowFeed::next(std::size_t most_bytes) {
  Impl& feed = *impl_;
  if (!std::exchange(feed.under_way, true) && !feed.look()) {
    feed.under_way = false;
    return {};
  }
  ByteWriter to;
  if (feed.run_now != feed.run_sent) to.bytes = feed.run_sent = feed.run_now;
  for (Impl::Stream& stream : feed.streams) {
    const bool all = feed.put_rows(to, stream, most_bytes);
    if (!all) return RowPiece{std::move(to.bytes), false};
  }
  feed.under_way = false;
  return RowPiece{std::move(to.bytes), true};
}

}  // namespace triescope::capture
