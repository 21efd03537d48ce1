// A thin owner of one SQLite connection and its statements. Not thread-safe.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace triescope::capture {

class Database {
 public:
  // Opens a file, whatever its name: ":memory:" is a file here. `flags` are those of
  // sqlite3_open_v2, `query` that of its URIs, `what` the file for messages. Error{kIoError} or
  // {kCorruption}.
  Database(const std::string& path, int flags, const std::string& query = "",
           std::string what = "a capture");
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const char* sql);
  std::int64_t pragma(const char* sql);  // the number that the pragma returns
  sqlite3* handle() const { return db_; }
  const std::string& path() const { return path_; }
  // From now on statements return at most this many bytes of texts and blobs, then
  // Error{kCorruption}: many rows of a hostile file can share one value.
  void limit_values(std::uint64_t bytes) { values_left_ = bytes; }
  void spend(std::size_t bytes);
  // Throws the error that `code` means: kIoError for full disks and the like, kCorruption for
  // damage.
  [[noreturn]] void fail(int code, const std::string& what) const;

 private:
  sqlite3* db_ = nullptr;
  std::string path_, what_;
  std::uint64_t values_left_ = std::numeric_limits<std::uint64_t>::max();
};

// Opens a file that may come from anybody for reading: nothing in the file is run, no extension is
// loaded, and sizes are limited. Works on a file that is being written, on one that a killed writer
// left, and on read-only media. Errors: kNotFound, kCorruption (not a SQLite file), kIoError.
std::unique_ptr<Database> open_untrusted(const std::string& path);

// Opens a file that open_untrusted() accepted for writing a bookmark into it.
std::unique_ptr<Database> open_to_mark(const std::string& path);

// The "file:" URI of a path, for ATTACH and the like; `query` comes without the question mark.
std::string file_uri(const std::string& path, const std::string& query);

class Statement {
 public:
  Statement(Database& db, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind_constant(const char* text);  // the text outlives the statement
  Statement& bind_blob(std::span<const std::byte> bytes);
  Statement& bind_null();
  void run();     // steps to the end and resets
  bool next();    // true while there is a row; resets at the end
  void rewind();  // resets before the end

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double number(int column) const;  // NULL is NaN
  // SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL: as the file holds it
  int type(int column) const { return sqlite3_column_type(statement_, column); }
  bool is_null(int column) const { return type(column) == SQLITE_NULL; }
  std::string text(int column) const { return std::string(text_view(column)); }
  std::string_view text_view(int column) const;  // until the next row
  std::span<const std::byte> blob(int column) const;

 private:
  Database& db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace triescope::capture
