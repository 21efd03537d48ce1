// ExportTask: one picture, of one run or of two side by side, or a whole run as a page or as data,
// written by a thread of its own from captures that it opens itself, so that the window goes on. Thread-safety: the window
// thread owns it; the destructor waits for the thread.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "viz/export/export.h"

namespace triescope::app {

class ExportTask {
 public:
  // A capture file, and what is shown of it.
  struct Source {
    std::string path;
    viz::ExportRun run;  // `capture` is filled in by the thread
  };

  // In place of a panel: the run as a page, as data. Of the options the range of steps counts alone.
  static constexpr const char *kHandout = "html", *kRunData = "jsonl";

  // One source: `options` say what is shown of it. Two: they stand side by side.
  // `wake` is called from the thread: on progress and at the end.
  ExportTask(std::vector<Source> sources, std::string panel, std::string path,
             viz::ExportOptions options, std::function<void()> wake);
  ~ExportTask();
  ExportTask(const ExportTask&) = delete;
  ExportTask& operator=(const ExportTask&) = delete;

  void cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }
  double share() const { return share_; }  // done, 0 to 1
  bool done() const { return done_; }
  // Once done: what went wrong, "" = nothing.
  const std::string& error() const { return error_; }
  const std::string& path() const { return path_; }

 private:
  void write();

  std::vector<Source> sources_;
  const std::string panel_, path_;
  const viz::ExportOptions options_;
  const std::function<void()> wake_;
  std::atomic<double> share_{0};
  std::atomic<bool> cancelled_{false}, done_{false};
  std::string error_;   // written before done_ is
  std::thread thread_;  // declared last: it uses the members above
};

}  // namespace triescope::app
