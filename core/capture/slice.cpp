// save_slice: writes a part of a capture as a capture of its own.
#include <filesystem>

#include "core/base/error.h"
#include "core/capture/capture.h"
#include "core/capture/new_capture.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

// SQL for the rows of a table that belong to the slice. ?1 = first step, ?2 = last step.
std::string condition(const Table& table) {
  static_assert(kPhaseCount == 5);
  if (table.sliced == Sliced::kAll) return "?1 = ?1 AND ?2 = ?2";
  const std::string time = table.time_column;
  const std::string last = time == "tick" ? "?2 * 5 + 4" : "?2";
  if (table.sliced == Sliced::kUntil) return "?1 = ?1 AND " + time + " <= " + last;
  return time + " BETWEEN " + (time == "tick" ? "?1 * 5" : "?1") + " AND " + last;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

void attach(Database& db, const std::string& from) {
  const auto as = [&](const char* query) {
    db.execute(("ATTACH " + quoted(file_uri(from, query)) + " AS source").c_str());
    Statement(db, "SELECT count(*) FROM source.run").run();
  };
  try {
    as("mode=ro");
  } catch (const Error&) {  // read-only media
    sqlite3_exec(db.handle(), "DETACH source", nullptr, nullptr, nullptr);
    as("immutable=1");
  }
}

}  // namespace

void save_slice(const std::string& from, const std::string& to, std::int32_t first_step,
                std::int32_t last_step) {
  namespace fs = std::filesystem;
  std::error_code ec;
  if (fs::exists(to, ec) && fs::equivalent(from, to, ec))
    throw Error(ErrorCode::kInvalidArgument, to + ": is the capture itself; choose another name");
  {
    const auto source = Capture::open(from);  // open() checks everything
    const std::int32_t last = source->last_step();
    if (first_step < 0 || first_step > last_step || last_step > last)
      throw Error(ErrorCode::kInvalidArgument,
                  "slice of " + from + ": expected steps from 0 to " + std::to_string(last) +
                      ", found " + std::to_string(first_step) + " to " + std::to_string(last_step));
  }
  const FileTables file_tables = check_format(*open_untrusted(from));
  create_capture(to, /*overwrite=*/true).reset();
  try {
    Database db(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    attach(db, from);
    db.execute("BEGIN");
    db.execute("DELETE FROM run");
    for (const Table& table : tables()) {
      const auto there = file_tables.find(table.name);
      if (there == file_tables.end()) continue;
      std::string columns;
      for (const std::string& column : there->second) columns += ", " + column;
      Statement(db, ("INSERT INTO main." + table.name + " (id" + columns + ") SELECT rowid" +
                     columns + " FROM source." + table.name + " NOT INDEXED WHERE " +
                     condition(table) + " ORDER BY rowid")
                        .c_str())
          .bind(std::int64_t{first_step})
          .bind(std::int64_t{last_step})
          .run();
    }
    // Nobody is recording the slice.
    db.execute(
        "UPDATE run SET status='stopped', message='part of a run that was still going on' WHERE "
        "status='running'");
    db.execute("COMMIT");
    db.execute("DETACH source");
    db.execute("PRAGMA journal_mode=DELETE");
  } catch (...) {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(to + suffix, ec);
    throw;
  }
}

}  // namespace triescope::capture
