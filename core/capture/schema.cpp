#include "core/capture/schema.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/base/error.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

template <class Value>
constexpr const char* sql_type(Rule rule) {
  if (rule == Rule::kBytes || rule == Rule::kTokens) return "BLOB";
  if (std::is_same_v<Value, std::string>) return "TEXT";
  return std::is_floating_point_v<Value> ? "REAL" : "INTEGER";
}

template <class Row>
void add_columns(int schema, Table& table) {
  for_each_column<Row>(schema, [&](const auto& column) {
    using Value = std::remove_cvref_t<decltype(std::declval<Row&>().*column.member)>;
    table.columns += std::string(", ") + column.name + " " + sql_type<Value>(column.rule);
    const std::string_view name = column.name;
    if (table.sliced != Sliced::kAll && table.time_column == nullptr &&
        (name == "step" || name == "tick"))
      table.time_column = column.name;
  });
}

// A token has the text of its first piece.
constexpr Companion kCompanions[] = {
    {"table", "name",
     "CREATE TABLE name (id INTEGER PRIMARY KEY, kind TEXT, code INTEGER, name TEXT)"},
    {"view", "decode_step", "CREATE VIEW decode_step AS SELECT * FROM step WHERE step > 0"},
    {"view", "named_node",
     "CREATE VIEW named_node AS SELECT n.node, n.parent, n.token, CAST(t.bytes AS TEXT) AS text, "
     "n.depth, n.logprob, n.score, n.q, s.name AS source, n.tick / 5 AS step, p.name AS phase "
     "FROM node AS n "
     "LEFT JOIN (SELECT min(id), token, bytes FROM piece GROUP BY token) AS t ON t.token = n.token "
     "LEFT JOIN name AS s ON s.kind = 'source' AND s.code = n.source "
     "LEFT JOIN name AS p ON p.kind = 'phase' AND p.code = n.tick % 5"},
    {"view", "named_verdict",
     "CREATE VIEW named_verdict AS SELECT v.tick / 5 AS step, p.name AS phase, v.node, n.parent, "
     "n.depth, n.token, n.text, n.source, w.name AS verdict, r.name AS reason, v.p, v.q, v.u, "
     "v.rank, v.score, v.gap, v.replacement, v.value, v.threshold, v.count "
     "FROM verdict AS v LEFT JOIN named_node AS n ON n.node = v.node "
     "LEFT JOIN name AS p ON p.kind = 'phase' AND p.code = v.tick % 5 "
     "LEFT JOIN name AS w ON w.kind = 'verdict' AND w.code = v.verdict "
     "LEFT JOIN name AS r ON r.kind = 'reason' AND r.code = v.reason"}};

template <class Code>
void add_names(const char* kind, Code last, std::vector<CodeName>& names) {
  for (int code = 0; code <= static_cast<int>(last); ++code)
    names.push_back({kind, code, to_string(static_cast<Code>(code))});
}

template <class Row>
Table table_of(int schema) {
  Table table{RowType<Row>::kTable, "id INTEGER PRIMARY KEY", RowType<Row>::kSliced, nullptr};
  add_columns<Row>(schema, table);
  return table;
}

}  // namespace

std::vector<Table> tables(int schema) {
  std::vector<Table> all = {table_of<RunInfo>(schema)};
  add_columns<RunState>(schema, all.front());
  for_each_table([&](const auto member) {
    using Row = RowOf<decltype(member)>;
    if (has_table<Row>(schema)) all.push_back(table_of<Row>(schema));
  });
  all.push_back(table_of<Bookmark>(schema));
  return all;
}

std::string create_statement(const Table& table) {
  return "CREATE TABLE " + table.name + " (" + table.columns + ")";
}

std::span<const Companion> companions(int schema) {
  if (schema < 4) return {};
  return kCompanions;
}

std::vector<CodeName> code_names() {
  std::vector<CodeName> names;
  add_names("phase", Phase::kObserve, names);
  add_names("whose", Whose::kHead, names);
  add_names("source", Source::kForced, names);
  add_names("stage", Stage::kDrawn, names);
  add_names("verdict", Verdict::kWithdrawn, names);
  add_names("reason", Reason::kDraftOutdone, names);
  add_names("action", SlotAction::kMove, names);
  return names;
}

int check_schema(Database& db) {
  if (db.pragma("PRAGMA application_id") != kApplicationId)
    throw Error(ErrorCode::kCorruption,
                db.path() + ": a SQLite file, but not a capture of triescope; expected a .tscap");
  const std::int64_t version = db.pragma("PRAGMA user_version");
  if (version > kSchemaVersion)
    throw Error(ErrorCode::kNotSupported,
                db.path() + ": made by a newer triescope (schema " + std::to_string(version) +
                    ", this program reads up to " + std::to_string(kSchemaVersion) +
                    "); open it with that version");
  if (version < 1)
    throw Error(ErrorCode::kCorruption, db.path() + ": expected a schema from 1 to " +
                                            std::to_string(kSchemaVersion) + ", found " +
                                            std::to_string(version));
  const auto schema = static_cast<int>(version);
  const std::vector<Table> known = tables(schema);
  const std::span<const Companion> beside = companions(schema);
  const std::size_t expected = known.size() + beside.size();
  std::size_t found = 0;
  Statement statement(db, "SELECT type, name, sql FROM sqlite_schema");
  while (statement.next()) {
    const std::string type = statement.text(0), name = statement.text(1), sql = statement.text(2);
    const bool holds_rows = type == "table" && std::ranges::any_of(known, [&](const Table& table) {
                              return name == table.name && sql == create_statement(table);
                            });
    const bool ours =
        holds_rows || std::ranges::any_of(beside, [&](const Companion& companion) {
          return type == companion.type && name == companion.name && sql == companion.statement;
        });
    if (!ours)
      throw Error(ErrorCode::kCorruption, db.path() + ": holds a " + type.substr(0, 20) + " '" +
                                              name.substr(0, 40) +
                                              "' that no capture has; it is not opened");
    if (++found > expected) break;  // said below
  }
  if (found != expected)
    throw Error(ErrorCode::kCorruption, db.path() + ": expected " + std::to_string(expected) +
                                            " tables" + (beside.empty() ? "" : " and views") +
                                            ", found " + std::to_string(found));
  return schema;
}

}  // namespace triescope::capture
