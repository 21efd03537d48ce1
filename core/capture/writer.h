// FileRecorder: records one run into a .tscap file (SQLite, WAL) on a thread of its own, in
// transactions of at most a quarter of a second. A kill at any moment leaves a file that opens and
// lacks at most the last second.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/capture/recorder.h"

namespace triescope::capture {

struct WriterOptions {
  Level level = Level::kFull;
  int flush_interval_ms = 200;
  // replace an existing capture; anything that is not a capture is never replaced
  bool overwrite = true;
  // The run's row has this value (RunInfo), whatever the run says that is handed over.
  bool timed_while_drawing = false;
  // The clock that tells how long a row has waited to be written.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

// Errors: kIoError (cannot create, no space), kInvalidArgument (path exists and is not a capture).
std::unique_ptr<Recorder> open_recorder(const std::string& path, const WriterOptions& options = {});

}  // namespace triescope::capture
