// RemoteRows: the rows of another machine's runs, as they come into captures on this one. Used by
// the thread that reads the line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "app/remote/messages.h"
#include "core/capture/row_stream.h"

namespace triescope::app {

class RemoteRows {
 public:
  // `client`: this end's name. Runs that others started are written into `folder`.
  RemoteRows(std::string client, std::filesystem::path folder)
      : client_(std::move(client)), folder_(std::move(folder)) {}

  // The run that this Ask starts is to be written there. Thread-safe.
  void expect(std::uint64_t asked_serial, const std::string& path);

  // Errors of both: those of RowCopy; kCorruption: rows of a run that was not announced.
  void begin(const Told& told);  // kRun
  void take(const RunRows& rows);
  // The line broke: what is incomplete goes.
  void rewind();
  // Another session begins: the run's capture is closed, and `why` told in it.
  void close(const char* why);

  std::uint64_t run() const { return run_; }  // by the server's number; 0 = none
  const std::string& path() const { return path_; }
  bool has_run() const { return copy_ && copy_->has_run(); }
  capture::StreamMarks marks() const { return copy_ ? copy_->marks() : capture::StreamMarks(); }

 private:
  const std::string client_;
  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::string> expected_;  // by Ask
  std::uint64_t run_ = 0;
  std::string path_;
  std::unique_ptr<capture::RowCopy> copy_;
};

}  // namespace triescope::app
