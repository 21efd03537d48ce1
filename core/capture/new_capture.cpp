#include "core/capture/new_capture.h"

#include <cstdint>
#include <filesystem>

#include "core/base/error.h"
#include "core/capture/recorder_identity.h"
#include "core/capture/schema.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

namespace fs = std::filesystem;

// Refuses to replace a file unless it is a capture that nobody is recording.
void refuse_precious_file(const std::string& path, bool overwrite) {
  if (path.empty())
    throw Error(ErrorCode::kInvalidArgument, "expected a capture's file name, found an empty one");
  std::error_code ec;
  if (!fs::exists(path, ec)) return;
  if (!overwrite)
    throw Error(ErrorCode::kInvalidArgument, path + ": exists already; choose another name");
  bool capture = false;
  std::string recorder;
  try {
    const auto db = open_untrusted(path);
    Statement id(*db, "PRAGMA application_id");
    capture = id.next() && id.integer(0) == kApplicationId;
    if (capture) {
      Statement run(*db, "SELECT recorder FROM run WHERE status='running'");
      if (run.next()) recorder = run.text(0);
    }
  } catch (const Error&) {
    // A capture that is damaged below its header may still be replaced.
  }
  if (!capture)
    throw Error(ErrorCode::kInvalidArgument,
                path +
                    ": exists and is not a capture; expected a new file or a .tscap of triescope. "
                    "Choose another name or remove it");
  if (!recorder.empty() && recorder_lives(recorder, path))
    throw Error(ErrorCode::kInvalidArgument,
                path + ": a run is being recorded there; choose another name");
}

std::unique_ptr<Database> create(const std::string& path) {
  auto db = std::make_unique<Database>(
      path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  db->execute("PRAGMA page_size=8192");
  // No disk needs to confirm an empty capture. A killed program leaves it whole all the same.
  db->execute("PRAGMA synchronous=OFF");
  // One transaction creates everything before the log exists, so the file is a capture as soon as
  // it has any content.
  db->execute("BEGIN");
  db->execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
  db->execute(("PRAGMA user_version=" + std::to_string(kFormat)).c_str());
  for (const Table& table : tables()) db->execute(create_statement(table).c_str());
  for (const char* const statement : view_statements()) db->execute(statement);
  // The row names the recorder from the first moment, so that a kill at any moment shows.
  Statement(*db, "INSERT INTO run (id, status, recorder) VALUES (1,'running',?)")
      .bind(recorder_identity())
      .run();
  db->execute("COMMIT");
  db->execute("PRAGMA journal_mode=WAL");
  db->execute("PRAGMA synchronous=NORMAL");
  return db;
}

}  // namespace

std::unique_ptr<Database> create_capture(const std::string& path, bool overwrite) {
  refuse_precious_file(path, overwrite);
  const auto remove = [&] {
    std::error_code ec;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(path + suffix, ec);
  };
  remove();
  try {
    return create(path);
  } catch (const Error& error) {
    remove();
    throw Error(ErrorCode::kIoError,
                "cannot record: " + std::string(error.what()) +
                    "; expected a folder that exists, can be written to and has space");
  }
}

void close_capture(std::unique_ptr<Database> db, const char* why) {
  sqlite3* const handle = db->handle();
  // The log is folded into the file, so that a closed capture is one file. This also makes room
  // in the log for the last update.
  sqlite3_wal_checkpoint_v2(handle, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  try {
    Statement(*db, "UPDATE run SET status='stopped', message=? WHERE id=1 AND status='running'")
        .bind(std::string_view(why))
        .run();
  } catch (const Error&) {
  }
  // SQLite refuses this while somebody reads; the file then stays in WAL mode, which is as good.
  sqlite3_busy_timeout(handle, 0);
  sqlite3_exec(handle, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
}

}  // namespace triescope::capture
