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
  std::size_t found = 0;
  Statement statement(db, "SELECT type, name, sql FROM sqlite_schema");
  while (statement.next()) {
    const std::string type = statement.text(0), name = statement.text(1), sql = statement.text(2);
    const bool ours = type == "table" && std::ranges::any_of(known, [&](const Table& table) {
                        return name == table.name && sql == create_statement(table);
                      });
    if (!ours)
      throw Error(ErrorCode::kCorruption, db.path() + ": holds a " + type.substr(0, 20) + " '" +
                                              name.substr(0, 40) +
                                              "' that no capture has; it is not opened");
    if (++found > known.size()) break;  // said below
  }
  if (found != known.size())
    throw Error(ErrorCode::kCorruption, db.path() + ": expected " + std::to_string(known.size()) +
                                            " tables, found " + std::to_string(found));
  return schema;
}

}  // namespace triescope::capture
