#include "app/window/workspace/exports.h"

#include <filesystem>
#include <utility>

#include "app/window/workspace/export_task.h"
#include "core/base/error.h"
#include "viz/export/file_ending.h"
#include "viz/export/frames.h"
#include "viz/export/run_data.h"
#include "viz/handout/handout.h"

namespace triescope::app {

namespace {

constexpr int kGifStepMs = 800;

// A free path in `folder`, or in the current one where that folder does not exist. A number is
// added where files of that name exist already.
std::string free_path(std::filesystem::path folder, const std::string& name,
                      const std::string& ending) {
  std::error_code ec;
  if (!std::filesystem::is_directory(folder, ec)) folder = std::filesystem::current_path(ec);
  std::filesystem::path path = folder / (name + ending);
  for (int i = 2; std::filesystem::exists(path, ec); ++i)
    path = folder / (name + "-" + std::to_string(i) + ending);
  return path.string();
}

std::string_view format_of(const ExportJob& job) {
  if (!job.animation) return viz::name_of(job.format);
  return *job.animation == Animation::kGif ? "gif" : "png-frames";
}

// False: the name ends as files of another format do, and a message says so.
bool is_named_right(const std::string& path, std::string_view format, Messages& log) {
  try {
    viz::check_file_ending(path, format);
    return true;
  } catch (const Error& error) {
    log.failed(Messages::Action::kExport, error.what());
    return false;
  }
}

}  // namespace

Exports::Exports(Documents& documents, Comparison& comparison, Preferences& preferences,
                 Messages& log, std::function<void()> wake)
    : documents_(documents),
      comparison_(comparison),
      preferences_(preferences),
      log_(log),
      wake_(std::move(wake)) {}

Exports::~Exports() { cancel(); }

bool Exports::may_start() {
  if (!documents_.active()) return false;
  if (under_way())
    log_.failed(Messages::Action::kExport,
                "an export is under way: wait for it or cancel it first");
  else
    of_ = documents_.active()->serial;
  return !under_way();
}

void Exports::keep_folder(const std::string& path) {
  std::error_code ec;
  const std::filesystem::path folder = std::filesystem::absolute(path, ec).parent_path();
  if (!ec) preferences_.export_folder = folder.string();
}

void Exports::start(const ExportJob& job) {
  if (!may_start() || !is_named_right(job.path, format_of(job), log_)) return;
  keep_folder(job.path);
  viz::ExportOptions options;
  options.format = job.format;
  options.theme = job.theme;
  options.part = job.part;
  if (job.slide) options.width_px = viz::kSlide.x, options.height_px = viz::kSlide.y;
  if (documents_.active()->cursor > 0)
    options.step = capture::step_of(documents_.active()->cursor - 1);
  if (job.in_range) options.range = documents_.active()->range;
  options.own_scales = comparison_.own_scales();
  options.notes = job.notes;
  if (job.animation) return start_animation(job);
  if (job.part == viz::ExportPart::kSeen && options.format != viz::ExportFormat::kCsv) {
    // Only this thread may read the panels' own state, and drawing a pane takes no longer than a
    // frame.
    const auto draw = [&] {
      if (job.seen.empty())
        throw Error(ErrorCode::kInvalidArgument,
                    "export: expected a panel that is on the screen; found " + job.panel);
      viz::export_seen(job.seen, job.path, options);
      log_.say(LogLevel::kInfo, "exported " + job.path, of_);
    };
    log_.attempt(Messages::Action::kExport, draw, of_);
    return;
  }
  // How a run is shown; the task opens the capture itself.
  const auto shown = [&](const Document& document) {
    const viz::Panel* panel = document.panel(job.panel);
    return viz::ExportRun{.cursor = document.cursor,
                          .title = document.title,
                          .view_state = panel ? panel->view_state() : "",
                          .range = job.in_range ? document.range : std::nullopt};
  };
  const Document* const other = job.both ? comparison_.partner() : nullptr;
  if (other) comparison_.sync();  // the cursor may have moved since the last frame
  const viz::ExportRun left = shown(*documents_.active());
  options.view_state = left.view_state;
  if (!other) {
    task_ = std::make_unique<ExportTask>(
        std::vector{documents_.active()->path}, job.path,
        [panel = job.panel, options](const ExportTask::Captures& captures, const std::string& path,
                                     const ProgressSink& progress) {
          viz::export_panel(*captures[0], panel, path, options, progress);
        },
        wake_);
    return;
  }
  task_ = std::make_unique<ExportTask>(
      std::vector{documents_.active()->path, other->path}, job.path,
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

void Exports::start_animation(const ExportJob& job) {
  viz::FrameOptions options;
  options.panels = {job.panel};
  options.theme = job.theme;
  if (const viz::Panel* panel = documents_.active()->panel(job.panel))
    options.view_states = {panel->view_state()};
  options.steps = std::pair(0, std::max(0, documents_.active()->capture->last_step()));
  if (job.in_range && documents_.active()->range) options.steps = *documents_.active()->range;
  task_ = std::make_unique<ExportTask>(
      std::vector{documents_.active()->path}, job.path,
      [options, as = *job.animation](const ExportTask::Captures& captures, const std::string& path,
                                     const ProgressSink& progress) {
        if (as == Animation::kGif)
          viz::export_gif(*captures[0], path, options, kGifStepMs, /*loops=*/0, progress);
        else
          viz::export_png_frames(*captures[0], path, options, progress);
      },
      wake_);
}

std::string Exports::picture_path(const std::string& panel, const std::string& ending) const {
  return free_path(preferences_.export_folder, panel, ending);
}

void Exports::start_whole_run(WholeRun as, const std::string& path) {
  if (!may_start() || !is_named_right(path, as == WholeRun::kHandout ? "html" : "jsonl", log_))
    return;
  keep_folder(path);
  task_ = std::make_unique<ExportTask>(
      std::vector{documents_.active()->path}, path,
      [as, range = documents_.active()->range](const ExportTask::Captures& captures,
                                               const std::string& file,
                                               const ProgressSink& progress) {
        if (as == WholeRun::kHandout)
          viz::export_handout(*captures[0], file, {.panels = {}, .steps = range}, progress);
        else
          viz::export_run_data(*captures[0], file, range, progress);
      },
      wake_);
}

std::string Exports::whole_run_path(WholeRun as) const {
  if (!documents_.active()) return "";
  const std::string run = std::filesystem::path(documents_.active()->path).stem().string();
  return as == WholeRun::kHandout ? free_path(preferences_.export_folder, run + "-handout", ".html")
                                  : free_path(preferences_.export_folder, run, ".jsonl");
}

void Exports::cancel() {
  if (task_) task_->cancel();
}

double Exports::share() const { return task_ ? task_->share() : 0; }

bool Exports::finish() {
  if (!task_ || !task_->done()) return false;
  if (task_->error().empty()) {
    log_.say(LogLevel::kInfo, "exported " + task_->path(), of_);
    log_.succeeded(Messages::Action::kExport);
  } else if (task_->cancelled()) {
    log_.say(LogLevel::kInfo, task_->error());
  } else {
    log_.failed(Messages::Action::kExport, task_->error(), of_);
  }
  task_.reset();
  return true;
}

}  // namespace triescope::app
