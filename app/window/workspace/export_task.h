// ExportTask: writes a file from one capture or two on a thread of its own, so that the window goes
// on. It opens the captures itself. Thread-safety: the window thread owns it; the destructor waits
// for the thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/log.h"
#include "core/capture/capture.h"

namespace triescope::app {

class ExportTask {
 public:
  using Captures = std::vector<std::unique_ptr<capture::Capture>>;
  // Runs on the task's thread, with the captures in the order of `sources`. An exception becomes
  // the task's error.
  using Write =
      std::function<void(const Captures&, const std::string& path, const ProgressSink& progress)>;

  // `sources` are files. `wake` is called from the thread, on progress and at the end.
  ExportTask(std::vector<std::string> sources, std::string path, Write write,
             std::function<void()> wake);
  ~ExportTask();
  ExportTask(const ExportTask&) = delete;
  ExportTask& operator=(const ExportTask&) = delete;

  void cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }
  double share() const { return share_; }  // done so far, 0 to 1
  bool done() const { return done_; }
  // What went wrong, once done(); "" = nothing.
  const std::string& error() const { return error_; }
  const std::string& path() const { return path_; }

 private:
  void run();

  const std::vector<std::string> sources_;
  const std::string path_;
  const Write write_;
  const std::function<void()> wake_;
  std::atomic<double> share_{0};
  std::atomic<bool> cancelled_{false}, done_{false};
  std::string error_;   // written before done_ is
  std::thread thread_;  // declared last: it uses the members above
};

}  // namespace triescope::app
