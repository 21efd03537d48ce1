// save_slice: a part of a capture as a capture of its own.
#include <filesystem>

#include "core/base/error.h"
#include "core/capture/capture.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"
#include "core/capture/writer.h"

namespace triescope::capture {
namespace {

// What of a table belongs to the slice. ?1 = first step, ?2 = last step. States at the slice's
// beginning follow from what happened before it, so nodes, verdicts, slots and frontiers are kept
// from the start.
std::string condition(const std::string& table) {
  if (table == "run" || table == "piece") return "?1 = ?1 AND ?2 = ?2";
  if (table == "step" || table == "input" || table == "memory") return "step BETWEEN ?1 AND ?2";
  if (table == "frontier") return "?1 = ?1 AND step <= ?2";
  if (table == "phase" || table == "candidate" || table == "bookmark")
    return "tick BETWEEN ?1 * 5 AND ?2 * 5 + 4";
  return "?1 = ?1 AND tick <= ?2 * 5 + 4";
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
  static_assert(kPhaseCount == 5);
  std::error_code ec;
  if (fs::exists(to, ec) && fs::equivalent(from, to, ec))
    throw Error(ErrorCode::kInvalidArgument, to + ": is the capture itself; choose another name");
  {
    const auto source = Capture::open(from);  // checks everything
    const std::int32_t last = source->last_step();
    if (first_step < 0 || first_step > last_step || last_step > last)
      throw Error(ErrorCode::kInvalidArgument,
                  "slice of " + from + ": expected steps from 0 to " + std::to_string(last) +
                      ", found " + std::to_string(first_step) + " to " + std::to_string(last_step));
  }
  // Makes the file, and refuses one that is no capture.
  open_recorder(to).reset();
  try {
    Database db(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX);
    sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    attach(db, from);
    db.execute("BEGIN");
    for (const Table& table : tables()) {
      const std::string name = table.name;
      Statement(db, ("INSERT OR REPLACE INTO main." + name + " SELECT * FROM source." + name +
                     " WHERE " + condition(name))
                        .c_str())
          .bind(std::int64_t{first_step})
          .bind(std::int64_t{last_step})
          .run();
    }
    // Nobody records the slice.
    db.execute(
        "UPDATE run SET status=2, message='part of a run that was still going on' WHERE status=0");
    db.execute("COMMIT");
    db.execute("DETACH source");
    db.execute("PRAGMA journal_mode=DELETE");
  } catch (...) {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(to + suffix, ec);
    throw;
  }
}

}  // namespace triescope::capture
