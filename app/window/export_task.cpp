#include "app/window/export_task.h"

#include <utility>

#include "core/base/error.h"
#include "viz/export/run_data.h"
#include "viz/handout/handout.h"

namespace triescope::app {

ExportTask::ExportTask(std::vector<Source> sources, std::string panel, std::string path,
                       viz::ExportOptions options, std::function<void()> wake)
    : sources_(std::move(sources)),
      panel_(std::move(panel)),
      path_(std::move(path)),
      options_(std::move(options)),
      wake_(std::move(wake)),
      thread_([this] { write(); }) {}

ExportTask::~ExportTask() { thread_.join(); }

void ExportTask::write() {
  try {
    std::vector<std::unique_ptr<capture::Capture>> captures;
    for (Source& source : sources_) {
      captures.push_back(capture::Capture::open(source.path));
      source.run.capture = captures.back().get();
    }
    const auto progress = [this](const std::string&, double done, double total) {
      share_ = total > 0 ? done / total : 0;
      if (cancelled_) throw Error(ErrorCode::kCancelled, "export cancelled");
      wake_();
    };
    if (panel_ == kHandout)
      viz::export_handout(*captures.front(), path_, {.panels = {}, .steps = options_.range},
                          progress);
    else if (panel_ == kRunData)
      viz::export_run_data(*captures.front(), path_, options_.range, progress);
    else if (sources_.size() == 2)
      viz::export_pair(sources_[0].run, sources_[1].run, panel_, path_, options_, progress);
    else
      viz::export_panel(*captures.front(), panel_, path_, options_, progress);
  } catch (const std::exception& failure) {
    error_ = failure.what();
  }
  done_ = true;
  wake_();
}

}  // namespace triescope::app
