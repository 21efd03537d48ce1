// Pictures of panels, and whole runs, as files written in the background.
#include <filesystem>
#include <utility>

#include "app/window/export_task.h"
#include "app/window/workspace.h"
#include "core/base/error.h"
#include "viz/export/frames.h"
#include "viz/export/run_data.h"
#include "viz/handout/handout.h"

namespace triescope::app {

namespace {

constexpr int kGifStepMs = 800;

// In `folder`, or the current one where that is not there; numbered where files of that name are there
// already.
std::string free_path(std::filesystem::path folder, const std::string& name,
                      const std::string& ending) {
  std::error_code ec;
  if (!std::filesystem::is_directory(folder, ec)) folder = std::filesystem::current_path(ec);
  std::filesystem::path path = folder / (name + ending);
  for (int i = 2; std::filesystem::exists(path, ec); ++i)
    path = folder / (name + "-" + std::to_string(i) + ending);
  return path.string();
}

}  // namespace

bool Workspace::may_export() {
  if (!active_) return false;
  if (exporting())
    failed(Action::kExport, "an export is under way: wait for it or cancel it first");
  if (!exporting()) export_of_ = active_->serial;
  return !exporting();
}

void Workspace::keep_export_folder(const std::string& path) {
  std::error_code ec;
  const std::filesystem::path folder = std::filesystem::absolute(path, ec).parent_path();
  if (!ec) preferences.export_folder = folder.string();
}

void Workspace::start_export(const ExportJob& job) {
  if (!may_export()) return;
  keep_export_folder(job.path);
  viz::ExportOptions options;
  options.format = job.format;
  options.theme = job.theme;
  options.part = job.part;
  if (job.slide) options.width_px = viz::kSlide.x, options.height_px = viz::kSlide.y;
  if (active_->cursor > 0) options.step = capture::step_of(active_->cursor - 1);
  if (job.in_range) options.range = active_->range;
  options.own_scales = own_scales();
  if (job.animation) return start_animation(job);
  if (job.part == viz::ExportPart::kSeen && options.format != viz::ExportFormat::kCsv) {
    // What panels hold themselves is this thread's; a pane takes no longer than a frame.
    try {
      if (job.seen.empty())
        throw Error(ErrorCode::kInvalidArgument,
                    "export: expected a panel that is on the screen; found " + job.panel);
      viz::export_seen(job.seen, job.path, options);
      say(LogLevel::kInfo, "exported " + job.path, export_of_);
      succeeded(Action::kExport);
    } catch (const Error& error) {
      failed(Action::kExport, error.what(), export_of_);
    }
    return;
  }
  // What is shown of a run; the task opens the capture itself.
  const auto shown = [&](const Document& document) {
    const viz::Panel* panel = document.panel(job.panel);
    return viz::ExportRun{.cursor = document.cursor,
                          .title = document.title,
                          .view_state = panel ? panel->view_state() : "",
                          .range = job.in_range ? document.range : std::nullopt};
  };
  const Document* const other = job.both ? partner() : nullptr;
  if (other) sync_partner();  // the cursor may have moved since the last frame
  const viz::ExportRun left = shown(*active_);
  options.view_state = left.view_state;
  if (!other) {
    export_ = std::make_unique<ExportTask>(
        std::vector{active_->path}, job.path,
        [panel = job.panel, options](const ExportTask::Captures& captures, const std::string& path,
                                     const ProgressSink& progress) {
          viz::export_panel(*captures[0], panel, path, options, progress);
        },
        wake_);
    return;
  }
  export_ = std::make_unique<ExportTask>(
      std::vector{active_->path, other->path}, job.path,
      [panel = job.panel, options, left, right = shown(*other)](
          const ExportTask::Captures& captures, const std::string& path,
          const ProgressSink& progress) {
        viz::ExportRun one = left, two = right;
        one.capture = captures[0].get();
        two.capture = captures[1].get();
        viz::export_pair(one, two, panel, path, options, progress);
      },
      wake_);
}

void Workspace::start_animation(const ExportJob& job) {
  viz::FrameOptions options;
  options.panels = {job.panel};
  options.theme = job.theme;
  if (const viz::Panel* panel = active_->panel(job.panel))
    options.view_states = {panel->view_state()};
  options.steps = std::pair(0, std::max(0, active_->capture->last_step()));
  if (job.in_range && active_->range) options.steps = *active_->range;
  export_ = std::make_unique<ExportTask>(
      std::vector{active_->path}, job.path,
      [options, as = *job.animation](const ExportTask::Captures& captures, const std::string& path,
                                     const ProgressSink& progress) {
        if (as == Animation::kGif)
          viz::export_gif(*captures[0], path, options, kGifStepMs, /*loops=*/0, progress);
        else
          viz::export_png_frames(*captures[0], path, options, progress);
      },
      wake_);
}

std::string Workspace::picture_path(const std::string& panel, const std::string& ending) const {
  return free_path(preferences.export_folder, panel, ending);
}

void Workspace::start_whole_run(WholeRun as, const std::string& path) {
  if (!may_export()) return;
  keep_export_folder(path);
  export_ = std::make_unique<ExportTask>(
      std::vector{active_->path}, path,
      [as, range = active_->range](const ExportTask::Captures& captures, const std::string& file,
                                   const ProgressSink& progress) {
        if (as == WholeRun::kHandout)
          viz::export_handout(*captures[0], file, {.panels = {}, .steps = range}, progress);
        else
          viz::export_run_data(*captures[0], file, range, progress);
      },
      wake_);
}

std::string Workspace::whole_run_path(WholeRun as) const {
  if (!active_) return "";
  const std::string run = std::filesystem::path(active_->path).stem().string();
  return as == WholeRun::kHandout ? free_path(preferences.export_folder, run + "-handout", ".html")
                                  : free_path(preferences.export_folder, run, ".jsonl");
}

void Workspace::cancel_export() {
  if (export_) export_->cancel();
}

bool Workspace::exporting() const { return export_ != nullptr; }
double Workspace::export_share() const { return export_ ? export_->share() : 0; }

bool Workspace::finish_export() {
  if (!export_ || !export_->done()) return false;
  if (export_->error().empty()) {
    say(LogLevel::kInfo, "exported " + export_->path(), export_of_);
    succeeded(Action::kExport);
  } else if (export_->cancelled()) {
    say(LogLevel::kInfo, export_->error());
  } else {
    failed(Action::kExport, export_->error(), export_of_);
  }
  export_.reset();
  return true;
}

}  // namespace triescope::app
