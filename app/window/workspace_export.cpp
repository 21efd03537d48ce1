// Pictures of panels as files, written in the background.
#include <filesystem>

#include "app/window/export_task.h"
#include "app/window/workspace.h"

namespace triescope::app {

namespace {

// In the current folder; numbered where files of that name are there already.
std::string free_path(const std::string& name, const std::string& ending) {
  std::error_code ec;
  const std::filesystem::path folder = std::filesystem::current_path(ec);
  std::filesystem::path path = folder / (name + ending);
  for (int i = 2; std::filesystem::exists(path, ec); ++i)
    path = folder / (name + "-" + std::to_string(i) + ending);
  return path.string();
}

}  // namespace

bool Workspace::may_export() {
  if (!active_) return false;
  if (exporting()) say(LogLevel::kError, "an export is under way: wait for it or cancel it first");
  return !exporting();
}

void Workspace::start_export(const ExportJob& job) {
  if (!may_export()) return;
  viz::ExportOptions options;
  options.format = job.format;
  options.dark = job.dark;
  if (active_->cursor > 0) options.step = capture::step_of(active_->cursor - 1);
  options.range = active_->range;
  const auto source_of = [&](const Document& document) {
    const viz::Panel* panel = document.panel(job.panel);
    return ExportTask::Source{document.path,
                              {.cursor = document.cursor,
                               .title = document.title,
                               .view_state = panel ? panel->view_state() : "",
                               .range = document.range}};
  };
  std::vector<ExportTask::Source> sources = {source_of(*active_)};
  options.view_state = sources.front().run.view_state;
  if (const Document* other = partner(); other && job.both) {
    sync_partner();  // the cursor may have moved since the last frame
    sources = {source_of(*active_), source_of(*other)};
  }
  export_ = std::make_unique<ExportTask>(std::move(sources), job.panel, job.path, options, wake_);
}

std::string Workspace::save_picture(const std::string& panel) {
  if (!may_export()) return "";
  const std::int32_t step = active_->cursor > 0 ? capture::step_of(active_->cursor - 1) : 0;
  const std::string path = free_path("triescope-" + panel + "-step" + std::to_string(step), ".png");
  start_export({panel, path, viz::ExportFormat::kPng, preferences.theme == viz::ThemeName::kDark,
                /*both=*/true});
  return path;
}

void Workspace::start_whole_run(WholeRun as, const std::string& path) {
  if (!may_export()) return;
  viz::ExportOptions options;
  options.range = active_->range;
  export_ = std::make_unique<ExportTask>(
      std::vector<ExportTask::Source>{{active_->path, {}}},
      as == WholeRun::kHandout ? ExportTask::kHandout : ExportTask::kRunData, path, options, wake_);
}

std::string Workspace::save_whole_run(WholeRun as) {
  if (!may_export()) return "";
  const std::string run = std::filesystem::path(active_->path).stem().string();
  const std::string path =
      as == WholeRun::kHandout ? free_path(run + "-handout", ".html") : free_path(run, ".jsonl");
  start_whole_run(as, path);
  return path;
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
