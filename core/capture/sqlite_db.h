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
  // A file, whatever its name: ":memory:" is one. `flags` as of sqlite3_open_v2, `query` as of its
  // URIs. Error{kIoError} or {kCorruption}.
  Database(const std::string& path, int flags, const std::string& query = "");
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const char* sql);
  std::int64_t pragma(const char* sql);  // the number it answers
  sqlite3* handle() const { return db_; }
  const std::string& path() const { return path_; }
  // From now on statements give out this many bytes of texts and blobs, then Error{kCorruption}: in
  // a hostile file many rows can share one value.
  void limit_values(std::uint64_t bytes) { values_left_ = bytes; }
  void spend(std::size_t bytes);
  // Throws what `code` means: kIoError for full disks and the like, kCorruption for damage.
  [[noreturn]] void fail(int code, const std::string& what) const;

 private:
  sqlite3* db_ = nullptr;
  std::string path_;
  std::uint64_t values_left_ = std::numeric_limits<std::uint64_t>::max();
};

// Opens for reading a file that may come from anybody: nothing in the file is run, no extension is
// loaded, sizes are limited. Works on a file that is being written, on one left by a killed writer,
// and on read-only media. Errors: kNotFound, kCorruption (not a SQLite file), kIoError.
std::unique_ptr<Database> open_untrusted(const std::string& path);

// Opens one that was opened like that to write a bookmark into it.
std::unique_ptr<Database> open_to_mark(const std::string& path);

// "file:" URI of a path, for ATTACH and the like; `query` without the question mark.
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
  Statement& bind_constant(const char* text);  // one that outlives the statement
  Statement& bind_blob(std::span<const std::byte> bytes);
  void run();   // steps to the end and resets
  bool next();  // true while there is a row; resets at the end

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double number(int column) const;  // NULL is NaN
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const { return std::string(text_view(column)); }
  std::string_view text_view(int column) const;  // until the next row
  std::span<const std::byte> blob(int column) const;

 private:
  Database& db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace triescope::capture
