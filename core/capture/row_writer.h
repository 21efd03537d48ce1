// Writes rows into a capture's tables, those of one call in one transaction: they are there whole
// or not at all. Not thread-safe.
#pragma once

#include <memory>

#include "core/capture/row_tables.h"

namespace triescope::capture {

class Database;

class RowWriter {
 public:
  explicit RowWriter(Database& db);  // as create_capture() makes it
  ~RowWriter();
  // Error{kIoError}: the disk is full or fails; nothing of `rows` was written.
  void write(const RowTables& rows);

 private:
  struct Statements;

  Database& db_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace triescope::capture
