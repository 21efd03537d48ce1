// Recorder: what a run writes to. FileRecorder (writer.h) writes a .tscap file off the decode
// thread; NullRecorder drops everything. All calls come from one thread, with rows in tick order.
// Calls never block on the disk. An error of the writing thread, such as a full disk, is thrown
// once by the next call as Error{kIoError}: the recorder is closed from then on, and what was
// committed stays readable. Where memory was refused, calls throw Error{kOutOfMemory} or
// std::bad_alloc instead: nothing of that call was taken, nothing of earlier calls is lost, and the
// same call may be made again.
#pragma once

#include "core/capture/records.h"
#include "core/capture/row_tables.h"

namespace triescope::capture {

class Recorder {
 public:
  virtual ~Recorder() = default;
  // The recording level: rows above it need not be handed over, and are dropped if they are.
  virtual Level level() const = 0;
  // Takes rows that belong together (those of a phase), in any number: readers see all of them or
  // none. The run's description comes with the first call and its end with the last, which returns
  // once everything is written.
  virtual void write(const RowTables& rows) = 0;
  // Blocks until everything handed in so far can be read by others (used when the run pauses).
  virtual void flush() = 0;
};

class NullRecorder final : public Recorder {
 public:
  Level level() const override { return Level::kOff; }
  void write(const RowTables&) override {}
  void flush() override {}
};

}  // namespace triescope::capture
