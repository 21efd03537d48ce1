#include "app/window/export_task.h"

#include <utility>

#include "core/base/error.h"

namespace triescope::app {

ExportTask::ExportTask(std::string source, std::string panel, std::string path,
                       viz::ExportOptions options, std::function<void()> wake)
    : source_(std::move(source)),
      panel_(std::move(panel)),
      path_(std::move(path)),
      options_(std::move(options)),
      wake_(std::move(wake)),
      thread_([this] { write(); }) {}

ExportTask::~ExportTask() { thread_.join(); }

void ExportTask::write() {
  try {
    const auto capture = capture::Capture::open(source_);
    viz::export_panel(*capture, panel_, path_, options_,
                      [this](const std::string&, double done, double total) {
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
