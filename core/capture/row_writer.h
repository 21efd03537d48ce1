// Writes rows into a capture's tables. The rows of one call are one transaction: readers see all of
// them or none. Not thread-safe.
#pragma once

#include <memory>

#include "core/capture/row_tables.h"

namespace triescope::capture {

class Database;

class RowWriter {
 public:
  explicit RowWriter(Database& db);  // `db` as create_capture() makes it
  ~RowWriter();
  // Error{kIoError}: the disk is full or fails; nothing of `rows` was written.
  void write(const RowTables& rows);

 private:
  struct Statements;

  Database& db_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace triescope::capture
