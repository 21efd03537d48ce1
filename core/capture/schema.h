// The tables of a .tscap file. People query the column names. row_types.h says what the tables
// hold.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/capture/row_types.h"

namespace triescope::capture {

inline constexpr int kApplicationId = 0x54534350;  // "TSCP", in the SQLite header

struct Table {
  std::string name;
  std::vector<std::string> columns;      // without the first column, id
  std::vector<std::string> definitions;  // by column: "verdict TEXT DEFAULT 'none'"
  std::set<std::string> needed;          // those of the columns that a file must have
  Sliced sliced;                         // which of its rows belong to a slice,
  const char* time_column;  // and the column that decides it: "step" or "tick"; null where kAll
  Level level;              // the lowest level that records it
};
// Every table, in creation order.
const std::vector<Table>& tables();
// The statement that makes a table, as a recorder writes it into the file.
std::string create_statement(const Table& table);

// Views that a recorder makes beside its tables, for people who query the file. The program itself
// reads none of them.
std::span<const char* const> view_statements();

class Database;
// By table that the file has: the known columns that it has.
using FileTables = std::map<std::string, std::set<std::string>>;
// Checks that a file is a capture: its header says so, and it has the table "run". Unknown tables,
// columns, indices and views are not read. Error{kCorruption}: not a capture; a table that lacks a
// column it needs; a trigger; a known name that is no plain table, or that has a computed column.
// Error{kNotSupported}: a newer format.
FileTables check_format(Database& db);

}  // namespace triescope::capture
