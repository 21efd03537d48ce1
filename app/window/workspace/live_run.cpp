#include "app/window/workspace/live_run.h"

#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"

namespace triescope::app {

LiveRun::LiveRun(Documents& documents, Comparison& comparison, Preferences& preferences,
                 Messages& log, std::shared_ptr<RunHost> host)
    : documents_(documents),
      comparison_(comparison),
      preferences_(preferences),
      log_(log),
      status_(host->status()),
      host_(std::move(host)) {}

void LiveRun::use(std::shared_ptr<RunHost> host) {
  if (!breakpoints_.empty()) host->set_breakpoints(breakpoints_);
  measured_.reset();
  documents_.forget_live();
  host_ = std::move(host);
  status_ = host_->status();
  seen_run_ = status_->run_serial;
  seen_pause_ = status_->pause_serial;
  seen_notice_ = opens_ = 0;
}

bool LiveRun::update() {
  bool changed = false;
  const auto status = host_->status();
  if (status != status_) {
    status_ = status;
    changed = true;
  }
  changed |= take_in_notices();
  if (status_->run_serial != seen_run_) {
    seen_run_ = status_->run_serial;
    take_in_run();
    changed = true;
  }
  if (status_->pause_serial != seen_pause_) {
    seen_pause_ = status_->pause_serial;
    show_break();
  }
  return finish_measuring() || changed;
}

bool LiveRun::take_in_notices() {
  bool changed = false;
  for (const Notice& notice : status_->notices) {
    if (notice.serial <= seen_notice_) continue;
    seen_notice_ = notice.serial;
    if (opens_ != 0 && notice.level == LogLevel::kError) {
      log_.failed(Messages::Action::kOpen, notice.text);
      open_failed_ = true;
    } else {
      log_.say(notice.level, notice.text);
    }
    changed = true;
  }
  if (opens_ != 0 && status_->commands_done >= opens_) {
    if (!open_failed_) log_.succeeded(Messages::Action::kOpen);
    opens_ = 0;
  }
  return changed;
}

void LiveRun::take_in_run() {
  try {
    Document& run = documents_.add_run(status_->capture_path, status_->run_serial);
    if (const std::string from = origin_text(run); !from.empty()) {
      run.title = "#" + std::to_string(run.run_serial) + ", " + from;
      host_->step();  // prefill, so that what both runs share is there at once
    }
  } catch (const std::exception& error) {
    log_.say(LogLevel::kError, error.what());
  }
}

bool LiveRun::idle() const {
  return status_->commands_done >= host_->commands_sent() &&
         status_->state != LiveState::kRunning && status_->state != LiveState::kLoading &&
         !measuring();
}

bool LiveRun::works_by_itself() const {
  const LiveState state = host_->status()->state;
  return state == LiveState::kRunning || state == LiveState::kLoading;
}

bool LiveRun::prompt_is_ids() const {
  return preferences_.request.prompt_is_ids ||
         (status_->tokenizer && !status_->tokenizer->encodes_text());
}

void LiveRun::load_model() {
  const RunRequest& request = preferences_.request;
  host_->load(request.model, request.device, request.dtype, request.kv_dtype);
  opens_ = host_->commands_sent();
  open_failed_ = false;
}

bool LiveRun::start(const RunRequest& request, bool run_at_once) {
  try {
    const std::string path = new_run_path();
    documents_.note_start(path, request);
    log_.begin_run();
    host_->start(request, path, run_at_once);
    tell_what_stops();
    return true;
  } catch (const std::exception& error) {
    log_.say(LogLevel::kError, error.what());
    return false;
  }
}

void LiveRun::tell_what_stops() {
  const Document* const before = documents_.live();
  if (!before || (status_->state != LiveState::kPaused && status_->state != LiveState::kRunning))
    return;
  log_.say(LogLevel::kInfo, before->title + " stops after " +
                                counted(before->capture->last_step() + 1, "step") +
                                ", because another run begins. What it recorded stays.");
}

void LiveRun::stop() {
  if (documents_.active()) documents_.active()->playing = false;
  if (documents_.live()) host_->stop();
}

void LiveRun::close(Document* document) {
  if (document == documents_.live() && status_->state != LiveState::kDone) host_->stop();
  documents_.close(document);
}

void LiveRun::set_breakpoints(std::vector<Breakpoint> points) {
  for (const Breakpoint& point : points) check_breakpoint(point);
  breakpoints_ = std::move(points);
  host_->set_breakpoints(breakpoints_);
}

void LiveRun::show_break() {
  Document* const document = documents_.live();
  if (!document || status_->pause_reason.empty()) return;
  document->breaks.push_back({status_->next_tick, status_->pause_reason});
  if (status_->pause_node < 0) return;
  document->focus.locked = status_->pause_node;
  comparison_.mirror_focus(*document);
}

}  // namespace triescope::app
