#include "core/capture/schema.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

constexpr Table kTables[] = {
    {"run",
     "id INTEGER PRIMARY KEY, created_utc TEXT, model_json TEXT, method TEXT, method_title TEXT, "
     "settings_json TEXT, seed INTEGER, "
     "versions_json TEXT, prompt_text TEXT, prompt_tokens BLOB, max_new_tokens INTEGER, "
     "kv_bytes_per_token INTEGER, "
     "sliding_window INTEGER, kv_policy TEXT, status INTEGER, message TEXT, recorder TEXT"},
    {"piece", "id INTEGER PRIMARY KEY, token INTEGER, bytes BLOB"},
    {"step",
     "id INTEGER PRIMARY KEY, step INTEGER, forward_rows INTEGER, drafted INTEGER, accepted "
     "INTEGER, emitted INTEGER, frontier INTEGER"},
    {"phase", "id INTEGER PRIMARY KEY, tick INTEGER, start_us INTEGER, duration_us INTEGER"},
    {"node",
     "id INTEGER PRIMARY KEY, node INTEGER, parent INTEGER, token INTEGER, depth INTEGER, logprob "
     "REAL, score REAL, q REAL, source INTEGER, "
     "tick INTEGER"},
    {"node_score", "id INTEGER PRIMARY KEY, node INTEGER, logprob REAL, score REAL, tick INTEGER"},
    {"input",
     "id INTEGER PRIMARY KEY, step INTEGER, row INTEGER, node INTEGER, position INTEGER, slot "
     "INTEGER, naive_position INTEGER"},
    {"candidate",
     "id INTEGER PRIMARY KEY, tick INTEGER, node INTEGER, rank INTEGER, token INTEGER, logprob "
     "REAL, chosen INTEGER"},
    {"verdict",
     "id INTEGER PRIMARY KEY, tick INTEGER, node INTEGER, verdict INTEGER, p REAL, q REAL, u REAL, "
     "rank INTEGER, score REAL, gap REAL, "
     "replacement INTEGER, reason TEXT"},
    {"frontier", "id INTEGER PRIMARY KEY, step INTEGER, rank INTEGER, node INTEGER, score REAL"},
    {"slot",
     "id INTEGER PRIMARY KEY, tick INTEGER, action INTEGER, slot INTEGER, node INTEGER, from_slot "
     "INTEGER"},
    {"memory",
     "id INTEGER PRIMARY KEY, step INTEGER, live INTEGER, garbage INTEGER, reserved INTEGER, "
     "greedy INTEGER, batch_beam INTEGER, "
     "moved_bytes INTEGER, device_allocated_bytes INTEGER, device_reserved_bytes INTEGER"},
    {"sequence",
     "id INTEGER PRIMARY KEY, tick INTEGER, node INTEGER, rank INTEGER, score REAL, finish TEXT, "
     "tokens BLOB"},
    {"log", "id INTEGER PRIMARY KEY, tick INTEGER, level INTEGER, text TEXT"},
    {"bookmark", "id INTEGER PRIMARY KEY, tick INTEGER, note TEXT"},
};

}  // namespace

std::span<const Table> tables() { return kTables; }

void check_schema(Database& db) {
  if (db.pragma("PRAGMA application_id") != kApplicationId)
    throw Error(ErrorCode::kCorruption,
                db.path() + ": a SQLite file, but no capture of triescope; expected a .tscap");
  const std::int64_t version = db.pragma("PRAGMA user_version");
  if (version > kSchemaVersion)
    throw Error(ErrorCode::kNotSupported,
                db.path() + ": made by a newer triescope (schema " + std::to_string(version) +
                    ", this program reads up to " + std::to_string(kSchemaVersion) +
                    "); open it with that version");
  std::size_t found = 0;
  Statement schema(db, "SELECT type, name, sql FROM sqlite_schema");
  while (schema.next()) {
    const std::string type = schema.text(0), name = schema.text(1), sql = schema.text(2);
    const auto known = tables();
    const bool ours =
        type == "table" && std::any_of(known.begin(), known.end(), [&](const Table& table) {
          return name == table.name &&
                 sql == std::string("CREATE TABLE ") + table.name + " (" + table.columns + ")";
        });
    if (!ours)
      throw Error(ErrorCode::kCorruption, db.path() + ": holds a " + type.substr(0, 20) + " '" +
                                              name.substr(0, 40) +
                                              "' that no capture has; it is not opened");
    if (++found > tables().size()) break;  // said below
  }
  if (found != tables().size())
    throw Error(ErrorCode::kCorruption, db.path() + ": expected " +
                                            std::to_string(tables().size()) + " tables, found " +
                                            std::to_string(found));
}

}  // namespace triescope::capture
