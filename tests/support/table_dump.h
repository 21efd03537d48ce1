// Every row of every table of a capture as text, to hold two files against each other.
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/capture/schema.h"

namespace triescope::test {

// By table: a line a row, with each value as SQL would write it. Columns in `left_out` are left out.
inline std::map<std::string, std::string> table_dump(const std::string& path,
                                                     const std::vector<std::string>& left_out = {
                                                         "recorder"}) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  std::map<std::string, std::string> dump;
  for (const capture::Table& table : capture::tables()) {
    std::string columns = "id";
    for (const std::string& column : table.columns)
      if (std::find(left_out.begin(), left_out.end(), column) == left_out.end())
        columns += " || ' ' || quote(" + column + ")";
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT " + columns + " FROM " + table.name + " ORDER BY id";
    REQUIRE(sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    std::string& lines = dump[table.name];
    while (sqlite3_step(statement) == SQLITE_ROW)
      lines += std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0))) + "\n";
    sqlite3_finalize(statement);
  }
  sqlite3_close(db);
  return dump;
}

inline void check_same_tables(const std::string& expected, const std::string& found) {
  const auto left = table_dump(expected), right = table_dump(found);
  for (const auto& [table, lines] : left) {
    INFO("table " << table);
    CHECK((right.at(table) == lines));
  }
}

}  // namespace triescope::test
