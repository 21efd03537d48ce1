// SQL on a capture that a test has made, to change what its writer would never write.
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <string>

namespace triescope::test {

inline void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  char* message = nullptr;
  sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message);
  INFO(sql);
  CHECK(std::string(message ? message : "") == "");
  sqlite3_free(message);
  sqlite3_close(db);
}

}  // namespace triescope::test
