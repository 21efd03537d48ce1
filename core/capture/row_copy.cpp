#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/capture/new_capture.h"
#include "core/capture/recorder_identity.h"
#include "core/capture/row_bytes.h"
#include "core/capture/row_stream.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

constexpr std::uint64_t kMaxColumns = 64;
constexpr std::size_t kMaxName = 64;

const Table* known_table(std::string_view name) {
  const auto found = std::ranges::find(tables(), name, &Table::name);
  return found == tables().end() || name == RowType<Bookmark>::kTable ? nullptr : &*found;
}

// A table's rows as they come: which columns are taken, and where they go.
struct Target {
  const Table* table = nullptr;  // null = this program does not know it
  std::vector<bool> taken;       // by column that comes
  std::size_t recorder = kMaxColumns, status = kMaxColumns, method = kMaxColumns;  // in the run's
  std::unique_ptr<Statement> insert;
};

// The value at the reader's place, bound to `insert` if there is one; the text, if it is one.
std::string_view take_value(ByteReader& from, Statement* insert) {
  const std::uint8_t kind = from.byte();
  switch (static_cast<ValueKind>(kind)) {
    case ValueKind::kNull:
      if (insert) insert->bind_null();
      return {};
    case ValueKind::kInteger: {
      const std::int64_t value = from.signed_number();
      if (insert) insert->bind(value);
      return {};
    }
    case ValueKind::kNumber: {
      const double value = from.real();
      if (insert) insert->bind(value);
      return {};
    }
    case ValueKind::kText: {
      const std::string_view text = from.text();
      if (insert) insert->bind(text);
      return text;
    }
    case ValueKind::kBytes: {
      const std::string_view bytes = from.text();
      if (insert) insert->bind_blob(std::as_bytes(std::span(bytes)));
      return {};
    }
  }
  ByteReader::fail("a value of kind " + std::to_string(kind) + ", expected 0 to 4");
}

}  // namespace

struct RowCopy::Impl {
  explicit Impl(const std::string& path) : db(create_capture(path, /*overwrite=*/true)) {}

  // Makes the statement that the columns of a table ask for. The file's own identity stands in the
  // run's row, so that a reader here can tell whether somebody still writes.
  Target target_of(ByteReader& from) {
    Target target;
    target.table = known_table(from.text(kMaxName));
    const std::uint64_t count = from.number();
    if (count > kMaxColumns) ByteReader::fail(std::to_string(count) + " columns");
    std::string names, places;
    std::vector<std::string_view> seen;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string_view name = from.text(kMaxName);
      const bool known = target.table && std::ranges::find(target.table->columns, name) !=
                                             target.table->columns.end();
      if (known && std::ranges::find(seen, name) != seen.end())
        ByteReader::fail("column " + std::string(name) + " comes twice");
      seen.push_back(name);
      target.taken.push_back(known);
      if (!known) continue;
      names += ", " + std::string(name);
      places += ", ?";
      if (target.table->name != "run") continue;
      if (name == "recorder") target.recorder = i;
      if (name == "status") target.status = i;
      if (name == "method") target.method = i;
    }
    if (target.table)
      target.insert =
          std::make_unique<Statement>(*db, ("INSERT OR REPLACE INTO " + target.table->name +
                                            " (id" + names + ") VALUES (?" + places + ")")
                                               .c_str());
    return target;
  }

  void take_row(ByteReader& from, const Target& target, std::uint64_t id) {
    const bool is_run = target.table && target.table->name == "run";
    if (target.table && is_run && id != 1) ByteReader::fail("a second run");
    if (target.table && !is_run) {
      std::int64_t& mark = coming[target.table->name];
      if (id > static_cast<std::uint64_t>(INT64_MAX) || static_cast<std::int64_t>(id) <= mark)
        ByteReader::fail("table " + target.table->name + ": row " + std::to_string(id) +
                         " comes after row " + std::to_string(mark));
      mark = static_cast<std::int64_t>(id);
    }
    if (target.insert) target.insert->bind(static_cast<std::int64_t>(id));
    for (std::size_t i = 0; i < target.taken.size(); ++i) {
      Statement* const insert = target.taken[i] ? target.insert.get() : nullptr;
      if (i == target.recorder) {
        take_value(from, nullptr);
        insert->bind(recorder_identity());
        continue;
      }
      const std::string_view text = take_value(from, insert);
      if (i == target.status) run_ended = text != code_names<RunStatus>()[0];
      if (i == target.method) run_known = !text.empty();
    }
    if (target.insert) target.insert->run();
  }

  void take(std::string_view bytes) {
    ByteReader from(bytes);
    while (!from.at_end()) {
      const Target target = target_of(from);
      while (const std::uint64_t id = from.number()) take_row(from, target, id);
    }
  }

  void rewind() {
    if (std::exchange(open, false))
      sqlite3_exec(db->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    coming = committed;
    run_known = has_run;
    run_ended = ended;
  }

  std::unique_ptr<Database> db;
  bool open = false;  // a snapshot is under way, in a transaction
  StreamMarks coming, committed;
  bool run_known = false, run_ended = false;  // with the snapshot that comes
  bool has_run = false, ended = false;        // as committed
};

RowCopy::RowCopy(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
RowCopy::~RowCopy() { close(); }

void RowCopy::write(const RowPiece& piece) {
  Impl& copy = *impl_;
  if (!copy.db) throw Error(ErrorCode::kInvalidArgument, "rows for a capture that was closed");
  try {
    if (!std::exchange(copy.open, true)) copy.db->execute("BEGIN");
    copy.take(piece.bytes);
    if (!piece.last) return;
    copy.db->execute("COMMIT");
    copy.open = false;
  } catch (...) {
    copy.rewind();
    throw;
  }
  copy.committed = copy.coming;
  copy.has_run = copy.run_known;
  copy.ended = copy.run_ended;
}

void RowCopy::rewind() {
  if (impl_->db) impl_->rewind();
}

const StreamMarks& RowCopy::marks() const { return impl_->committed; }
bool RowCopy::has_run() const { return impl_->has_run; }
bool RowCopy::ended() const { return impl_->ended; }

void RowCopy::close(const char* why) {
  if (!impl_->db) return;
  impl_->rewind();
  close_capture(std::move(impl_->db), why);
}

}  // namespace triescope::capture
