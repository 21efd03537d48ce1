// The tables of a .tscap file. Column names are what people query. kSchemaVersion and what the
// tables hold: row_types.h.
#pragma once

#include <span>
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

// What a file has beside its tables, for people who query it: the names of the codes, and views that
// speak them. The program itself reads none of it. Since schema 4.
struct Companion {
  const char* type;  // "table", "view"
  const char* name;
  const char* statement;
};
std::span<const Companion> companions(int schema);
// What each code is called: rows of the table "name".
struct CodeName {
  const char* kind;  // the column: "verdict", "reason", "source", …
  int code;
  const char* name;
};
std::vector<CodeName> code_names();

class Database;
// A file is a capture if its identity, its version and every statement of its schema are a
// recorder's, and nothing else is in it: no other view, no trigger or index. Returns its schema's number.
// Error{kCorruption} or {kNotSupported} (a newer schema).
int check_schema(Database& db);

}  // namespace triescope::capture
