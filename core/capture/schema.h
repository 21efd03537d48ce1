// The tables of a .tscap file. Column names are what people query. What the tables hold: row_types.h.
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
  std::vector<std::string> columns;      // without the first, id
  std::vector<std::string> definitions;  // by column: "verdict TEXT DEFAULT 'none'"
  std::set<std::string> needed;          // of the columns
  Sliced sliced;                         // what of it belongs to a slice,
  const char* time_column;               // by this column: "step" or "tick"; null where kAll
  Level level;                           // recorded from this one on
};
// Every table, in creation order.
const std::vector<Table>& tables();
// The statement that makes a table, as a recorder writes it into the file.
std::string create_statement(const Table& table);

// Views that a recorder makes beside its tables, for people who query the file. The program itself
// reads none of them.
std::span<const char* const> view_statements();

class Database;
// The columns that a file has of those known, by table; a table that it lacks is not among them.
using FileTables = std::map<std::string, std::set<std::string>>;
// A file is a capture if its header says so and it has the table "run". Tables, columns, indices and views
// that are not known stay unread. Error{kCorruption}: no capture; a table without a column that it
// needs; a trigger; a known name that is no plain table, or has a computed column. Error{kNotSupported}: a newer
// format.
FileTables check_format(Database& db);

}  // namespace triescope::capture
