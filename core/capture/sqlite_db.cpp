#include "core/capture/sqlite_db.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace triescope::capture {

Database::Database(const std::string& path, int flags) : path_(path) {
  const int code = sqlite3_open_v2(path.c_str(), &db_, flags, nullptr);
  if (code != SQLITE_OK) {
    const std::string why = db_ ? sqlite3_errmsg(db_) : "out of memory";
    sqlite3_close_v2(db_);
    throw Error(ErrorCode::kIoError, path + ": cannot be opened (" + why + ")");
  }
  sqlite3_busy_timeout(db_, 5000);
}

Database::~Database() { sqlite3_close_v2(db_); }

void Database::fail(int code, const std::string& what) const {
  const std::string why = sqlite3_errmsg(db_);
  switch (code & 0xff) {
    case SQLITE_FULL:
      throw Error(ErrorCode::kIoError,
                  path_ + ": the disk is full while " + what +
                      "; what was recorded until here stays. Free some space or record elsewhere");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
      throw Error(ErrorCode::kCorruption,
                  path_ + ": damaged or no capture, found while " + what + " (" + why + ")");
    case SQLITE_NOMEM:
      throw Error(ErrorCode::kOutOfMemory, path_ + ": out of memory while " + what);
    case SQLITE_ERROR:
      // A missing table or column: not a file of ours.
      throw Error(ErrorCode::kCorruption,
                  path_ + ": not a capture of triescope, found while " + what + " (" + why + ")");
    default:
      throw Error(ErrorCode::kIoError, path_ + ": " + why + " while " + what);
  }
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, std::string("running ") + std::string(sql).substr(0, 40));
}

Statement::Statement(Database& db, const char* sql) : db_(db) {
  const int code =
      sqlite3_prepare_v3(db.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK) db.fail(code, std::string("preparing ") + std::string(sql).substr(0, 60));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(double value) {
  // NaN is stored as NULL by SQLite itself.
  sqlite3_bind_double(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind_blob(std::span<const std::byte> bytes) {
  sqlite3_bind_blob(statement_, ++bound_,
                    bytes.empty() ? "" : static_cast<const void*>(bytes.data()),
                    static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
  return *this;
}

void Statement::run() {
  while (next()) {
  }
}

bool Statement::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  bound_ = 0;
  sqlite3_reset(statement_);
  if (code != SQLITE_DONE) db_.fail(code, std::string(sqlite3_sql(statement_)).substr(0, 40));
  return false;
}

double Statement::number(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL)
    return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* data = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data ? std::string(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size))
              : std::string();
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  return {data, data ? static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)) : 0};
}

}  // namespace triescope::capture
