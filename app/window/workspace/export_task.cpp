#include "app/window/workspace/export_task.h"

#include <utility>

#include "core/base/error.h"

namespace triescope::app {

ExportTask::ExportTask(std::vector<std::string> sources, std::string path, Write write,
                       std::function<void()> wake)
    : sources_(std::move(sources)),
      path_(std::move(path)),
      write_(std::move(write)),
      wake_(std::move(wake)),
      thread_([this] { run(); }) {}

ExportTask::~ExportTask() { thread_.join(); }

void ExportTask::run() {
  try {
    Captures captures;
    for (const std::string& source : sources_) captures.push_back(capture::Capture::open(source));
    write_(captures, path_, [this](const std::string&, double done, double total) {
      share_ = total > 0 ? done / total : 0;
      if (cancelled_) throw Error(ErrorCode::kCancelled, "export cancelled");
      wake_();
    });
  } catch (const std::exception& failure) {
    error_ = failure.what();
  }
  done_ = true;
  wake_();
}

}  // namespace triescope::app
