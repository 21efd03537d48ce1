// Puts batches of rows into a capture's tables, each in one transaction: a batch is there whole or
// not at all. Not thread-safe.
#pragma once

#include <memory>

#include "core/capture/batch.h"

namespace triescope::capture {

class Database;

class BatchWriter {
 public:
  explicit BatchWriter(Database& db);  // its tables exist
  ~BatchWriter();
  // Error{kIoError}: the disk is full or fails; nothing of the batch was written.
  void write(const Batch& batch);

 private:
  struct Statements;

  Database& db_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace triescope::capture
