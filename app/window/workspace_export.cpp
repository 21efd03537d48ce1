// Pictures of panels as files, written in the background.
#include "app/window/export_task.h"
#include "app/window/workspace.h"

namespace triescope::app {

void Workspace::start_export(const ExportJob& job) {
  if (!active_) return;
  if (exporting())
    return say(LogLevel::kError, "an export is under way: wait for it or cancel it first");
  viz::ExportOptions options;
  options.format = job.format;
  options.dark = job.dark;
  if (active_->cursor > 0) options.step = capture::step_of(active_->cursor - 1);
  if (viz::Panel* panel = active_->panel(job.panel)) options.view_state = panel->view_state();
  export_ = std::make_unique<ExportTask>(active_->path, job.panel, job.path, options, wake_);
}

void Workspace::cancel_export() {
  if (export_) export_->cancel();
}

bool Workspace::exporting() const { return export_ != nullptr; }
double Workspace::export_share() const { return export_ ? export_->share() : 0; }

bool Workspace::finish_export() {
  if (!export_ || !export_->done()) return false;
  const bool failed = !export_->error().empty();
  say(failed && !export_->cancelled() ? LogLevel::kError : LogLevel::kInfo,
      failed ? export_->error() : "exported " + export_->path());
  export_.reset();
  return true;
}

}  // namespace triescope::app
