// The tables of a .tscap file, one statement a table. Column names are what people query.
#pragma once

#include <span>

namespace triescope::capture {

inline constexpr int kSchemaVersion = 1;
inline constexpr int kApplicationId = 0x54534350;  // "TSCP", in the SQLite header

// Every table with its columns, in creation order.
struct Table {
  const char* name;
  const char* columns;  // "step INTEGER, …"
};
std::span<const Table> tables();

class Database;
// A file is a capture if its identity, its version and every statement of its schema are a
// recorder's, and nothing else is in it: no view, trigger or index. Error{kCorruption} or
// {kNotSupported} (a newer version).
void check_schema(Database& db);

}  // namespace triescope::capture
