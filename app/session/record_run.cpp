#include "app/session/record_run.h"

#include "app/session/run.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

class Recording final : public RunWatcher {
 public:
  Recording(const ProgressSink& progress, std::stop_token stop)
      : progress_(progress), stop_(std::move(stop)) {}
  ProgressSink progress() override { return progress_; }
  std::stop_token stop() override { return stop_; }

 private:
  const ProgressSink& progress_;
  std::stop_token stop_;
};

}  // namespace

void record_run(const RunRequest& request, const std::string& path, const ProgressSink& progress,
                std::stop_token stop) {
  Recording watcher(progress, stop);
  RunModels models;
  Run run(request, models, {.capture = path}, watcher);
  while (!run.session().done()) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "interrupted");
    run.session().step();
  }
}

}  // namespace triescope::app
