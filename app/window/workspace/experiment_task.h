// ExperimentTask: draws one experiment on a thread of its own. Thread-safety: the window thread
// owns it; the destructor ends the drawing and waits for it.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "app/lesson/experiment.h"

namespace triescope::app {

class ExperimentTask {
 public:
  // `wake` is called from the thread when it ends.
  ExperimentTask(lessons::ExperimentSetup setup, std::function<void()> wake);

  const lessons::ExperimentSetup& setup() const { return setup_; }
  bool done() const { return done_; }
  // REQUIRES: done().
  const ExperimentResult& result() const { return result_; }
  const std::string& error() const { return error_; }  // "" = none

 private:
  const lessons::ExperimentSetup setup_;
  const std::function<void()> wake_;
  std::atomic<bool> done_{false};
  ExperimentResult result_;  // both written before done_ is
  std::string error_;
  std::jthread thread_;  // declared last: it uses the members above
};

}  // namespace triescope::app
