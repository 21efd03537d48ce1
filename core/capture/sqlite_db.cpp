#include "core/capture/sqlite_db.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "core/base/error.h"

namespace triescope::capture {
namespace {

constexpr std::uint64_t kMaxValueBytes = std::uint64_t{1} << 30;  // limit for one opened capture

// Makes SQLite run nothing that is in the file and compute little of it. Returns SQLite's code.
int defend(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  for (const auto& [what, limit] : {std::pair(SQLITE_LIMIT_LENGTH, 64 << 20),
                                    {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
                                    {SQLITE_LIMIT_COLUMN, 64},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 64},
                                    {SQLITE_LIMIT_VDBE_OP, 10'000},
                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                    {SQLITE_LIMIT_ATTACHED, 0},
                                    {SQLITE_LIMIT_WORKER_THREADS, 0}})
    sqlite3_limit(handle, what, limit);
  // The file is not mapped: a mapped file that shrinks would raise SIGBUS instead of an error.
  return sqlite3_exec(handle,
                      "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; "
                      "SELECT count(*) FROM sqlite_schema",
                      nullptr, nullptr, nullptr);
}

}  // namespace

Database::Database(const std::string& path, int flags, const std::string& query, std::string what)
    : path_(path), what_(std::move(what)) {
  const int code =
      sqlite3_open_v2(file_uri(path, query).c_str(), &db_, flags | SQLITE_OPEN_URI, nullptr);
  if (code != SQLITE_OK) {  // permission, no such folder
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
                  path_ + ": damaged or not " + what_ + ", found while " + what + " (" + why + ")");
    case SQLITE_NOMEM:
      throw Error(ErrorCode::kOutOfMemory, path_ + ": out of memory while " + what);
    case SQLITE_ERROR:
      // A table or column is missing: the file is not a capture.
      throw Error(ErrorCode::kCorruption, path_ + ": not " + what_ + " of triescope, found while " +
                                              what + " (" + why + ")");
    default:
      throw Error(ErrorCode::kIoError, path_ + ": " + why + " while " + what);
  }
}

void Database::spend(std::size_t bytes) {
  if (bytes > values_left_)
    throw Error(ErrorCode::kCorruption,
                path_ + ": damaged: its texts are longer together than any capture's");
  values_left_ -= bytes;
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, std::string("running ") + std::string(sql).substr(0, 40));
}

std::int64_t Database::pragma(const char* sql) {
  Statement statement(*this, sql);
  std::int64_t value = 0;
  while (statement.next()) value = statement.integer(0);
  return value;
}

std::string file_uri(const std::string& path, const std::string& query) {
  // With a folder in front, no name is special to SQLite, as ":memory:" would be.
  std::string uri = path.starts_with('/') ? "file://" : "file:./";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned char>(c));
      uri += escaped;
    } else {
      uri += c;
    }
  }
  return query.empty() ? uri : uri + "?" + query;
}

std::unique_ptr<Database> open_untrusted(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ec;
  if (!fs::exists(path, ec))
    throw Error(ErrorCode::kNotFound, path + ": no such file; expected a .tscap capture");
  if (!fs::is_regular_file(path, ec))
    throw Error(ErrorCode::kCorruption,
                path + ": expected a .tscap capture, found something that is not a regular file");
  if (const auto size = fs::file_size(path, ec); !ec && size < 512)
    throw Error(ErrorCode::kCorruption, path + ": not a capture; expected a SQLite file, found " +
                                            std::to_string(size) + " bytes");
  // The file is opened through SQLite only: closing another descriptor of it would drop the locks
  // that a recorder in this process holds.
  auto db = std::make_unique<Database>(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX);
  int code = defend(db->handle()) & 0xff;
  if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) {
    // On read-only media no log can be made beside the file; without one the file is complete.
    if (fs::exists(path + "-wal", ec) && fs::file_size(path + "-wal", ec) > 0)
      throw Error(ErrorCode::kIoError,
                  path + ": its log (" + path +
                      "-wal) cannot be joined from a read-only folder; copy both to a folder that "
                      "can be written to");
    db =
        std::make_unique<Database>(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, "immutable=1");
    code = defend(db->handle()) & 0xff;
  }
  if (code != SQLITE_OK) db->fail(code, "opening it");
  db->limit_values(kMaxValueBytes);
  return db;
}

std::unique_ptr<Database> open_to_mark(const std::string& path) {
  auto db = std::make_unique<Database>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  if (const int code = defend(db->handle()); code != SQLITE_OK) db->fail(code, "opening it");
  return db;
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
  // SQLite itself stores NaN as NULL.
  sqlite3_bind_double(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind_constant(const char* text) {
  sqlite3_bind_text(statement_, ++bound_, text, -1, SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind_blob(std::span<const std::byte> bytes) {
  sqlite3_bind_blob(statement_, ++bound_,
                    bytes.empty() ? "" : static_cast<const void*>(bytes.data()),
                    static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(statement_, ++bound_);
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

void Statement::rewind() {
  bound_ = 0;
  sqlite3_reset(statement_);
}

double Statement::number(int column) const {
  if (is_null(column)) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(statement_, column);
}

std::string_view Statement::text_view(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  db_.spend(size);
  return data ? std::string_view(data, size) : std::string_view();
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  db_.spend(static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  return {data, data ? static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)) : 0};
}

}  // namespace triescope::capture
