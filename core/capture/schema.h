// The tables of a .tscap file. Column names are what people query. kSchemaVersion and what the
// tables hold: row_types.h.
#pragma once

#include <string>
#include <vector>

#include "core/capture/row_types.h"

namespace triescope::capture {

inline constexpr int kApplicationId = 0x54534350;  // "TSCP", in the SQLite header

struct Table {
  std::string name;
  std::string columns;      // "id INTEGER PRIMARY KEY, step INTEGER, ..."
  Sliced sliced;            // what of it belongs to a slice,
  const char* time_column;  // by this column: "step" or "tick"; null where kAll
};
// Every table of a schema, in creation order.
std::vector<Table> tables(int schema);
// The statement that makes a table, as a recorder writes it into the file.
std::string create_statement(const Table& table);

class Database;
// A file is a capture if its identity, its version and every statement of its schema are a
// recorder's, and nothing else is in it: no view, trigger or index. Returns its schema's number.
// Error{kCorruption} or {kNotSupported} (a newer schema).
int check_schema(Database& db);

}  // namespace triescope::capture
