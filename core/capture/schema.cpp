#include "core/capture/schema.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/base/error.h"
#include "core/capture/column_text.h"
#include "core/capture/sqlite_db.h"

namespace triescope::capture {
namespace {

template <class Row>
void add_columns(Table& table) {
  const Row row;
  for_each_column<Row>([&](const auto& column) {
    using Value = std::remove_cvref_t<decltype(row.*column.member)>;
    std::string definition = std::string(column.name) + " " + sql_type<Value>(column.rule);
    if (const std::string value = default_text(column, row.*column.member); !value.empty())
      definition += " DEFAULT " + value;
    table.columns.emplace_back(column.name);
    table.definitions.push_back(std::move(definition));
    if (column.is_needed) table.needed.insert(column.name);
    const std::string_view name = column.name;
    if (table.sliced != Sliced::kAll && table.time_column == nullptr &&
        (name == "step" || name == "tick"))
      table.time_column = column.name;
  });
}

template <class Row>
Table table_of() {
  Table table{RowType<Row>::kTable, {}, {}, {}, RowType<Row>::kSliced, nullptr, Level::kSteps};
  if constexpr (requires { RowType<Row>::kLevel; }) table.level = RowType<Row>::kLevel;
  add_columns<Row>(table);
  return table;
}

std::vector<Table> all_tables() {
  std::vector<Table> all = {table_of<RunInfo>()};
  add_columns<RunState>(all.front());
  for_each_table([&](const auto member) { all.push_back(table_of<RowOf<decltype(member)>>()); });
  all.push_back(table_of<Bookmark>());
  return all;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

[[noreturn]] void refuse(const Database& db, const std::string& what) {
  throw Error(ErrorCode::kCorruption, db.path() + ": " + what);
}

void check_header(Database& db) {
  if (db.pragma("PRAGMA application_id") != kApplicationId)
    refuse(db, "a SQLite file, but not a capture of triescope; expected a .tscap");
  const std::int64_t format = db.pragma("PRAGMA user_version");
  if (format > kFormat)
    throw Error(ErrorCode::kNotSupported,
                db.path() + ": made by a newer triescope (format " + std::to_string(format) +
                    ", this program reads up to " + std::to_string(kFormat) +
                    "); open it with that version");
  if (format < 1)
    refuse(db, "expected a format from 1 to " + std::to_string(kFormat) +
                   " (PRAGMA user_version), found " + std::to_string(format));
}

// The columns of the file's table that this program knows.
std::set<std::string> columns_of(Database& db, const Table& table) {
  std::set<std::string> found;
  Statement statement(db, ("PRAGMA table_xinfo(" + table.name + ")").c_str());
  while (statement.next()) {
    const std::string name = lower(statement.text(1));
    // Rows are read by this name, and a column of that name would hide SQLite's own.
    if (name == "rowid")
      refuse(db, "table " + table.name + ": expected no column 'rowid'; it is not opened");
    if (std::ranges::find(table.columns, name) == table.columns.end()) continue;
    if (statement.integer(6) != 0)
      refuse(db, "table " + table.name + ", column " + name +
                     ": expected stored values, found computed ones; it is not opened");
    found.insert(name);
  }
  for (const std::string& name : table.needed)
    if (!found.contains(name))
      refuse(db, "table " + table.name + ": expected a column '" + name +
                     "', found none; docs/capture.md lists what a table needs");
  return found;
}

}  // namespace

const std::vector<Table>& tables() {
  static const std::vector<Table> all = all_tables();
  return all;
}

std::string create_statement(const Table& table) {
  std::string statement = "CREATE TABLE " + table.name + " (id INTEGER PRIMARY KEY";
  for (const std::string& definition : table.definitions) statement += ", " + definition;
  return statement + ")";
}

// In the views a token has the text of its first piece.
std::span<const char* const> view_statements() {
  static_assert(kPhaseCount == 5);
  static constexpr const char* kStatements[] = {
      "CREATE VIEW decode_step AS SELECT * FROM step WHERE step > 0",
      "CREATE VIEW named_node AS SELECT n.node, n.parent, n.token, CAST(t.bytes AS TEXT) AS text, "
      "n.depth, n.logprob, n.score, n.q, n.source, d.name AS drafter, n.role, n.tick / 5 AS step, "
      "CASE n.tick % 5 WHEN 0 THEN 'draft' WHEN 1 THEN 'forward' WHEN 2 THEN 'accept' "
      "WHEN 3 THEN 'commit' ELSE 'observe' END AS phase "
      "FROM node AS n "
      "LEFT JOIN (SELECT min(id), token, bytes FROM piece GROUP BY token) AS t "
      "ON t.token = n.token LEFT JOIN drafter AS d ON d.drafter = n.drafter",
      "CREATE VIEW named_verdict AS SELECT v.tick / 5 AS step, "
      "CASE v.tick % 5 WHEN 0 THEN 'draft' WHEN 1 THEN 'forward' WHEN 2 THEN 'accept' "
      "WHEN 3 THEN 'commit' ELSE 'observe' END AS phase, v.node, n.parent, n.depth, n.token, "
      "n.text, n.source, n.drafter, v.verdict, v.reason, v.p, v.q, v.u, v.rank, v.score, v.gap, "
      "v.replacement, v.value, v.threshold, v.count, v.why "
      "FROM verdict AS v LEFT JOIN named_node AS n ON n.node = v.node"};
  return kStatements;
}

FileTables check_format(Database& db) {
  check_header(db);
  FileTables found;
  std::vector<std::string> here;  // known column names that the file has
  {
    Statement statement(db, "SELECT type, name, rootpage FROM sqlite_schema");
    while (statement.next()) {
      const std::string type = statement.text(0), name = lower(statement.text(1));
      if (type == "trigger")
        refuse(db, "holds a trigger '" + name.substr(0, 40) + "'; it is not opened");
      if (std::ranges::find(tables(), name, &Table::name) == tables().end()) continue;
      // A virtual table has no page of its own.
      if (type != "table" || statement.integer(2) == 0)
        refuse(db, "expected a plain table '" + name + "', found " +
                       (type == "table" ? "a virtual table" : "a " + type.substr(0, 20)) +
                       "; it is not opened");
      here.push_back(name);
    }
  }
  for (const Table& table : tables())
    if (std::ranges::find(here, table.name) != here.end())
      found.emplace(table.name, columns_of(db, table));
  if (!found.contains("run")) refuse(db, "not a capture of triescope; expected a table 'run'");
  return found;
}

}  // namespace triescope::capture
