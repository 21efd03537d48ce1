// Times without drawing: the run shown is decoded again while the window rests.
#include "app/window/workspace/live_run.h"
#include "viz/query/compare_figures.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

// True if the run begins with a token chosen by hand, which its request does not know.
bool begins_with_a_choice(const capture::Capture& capture) {
  const auto nodes = capture.nodes();
  for (std::size_t i = 1; i < nodes.size() && capture::step_of(nodes[i].tick) == 0; ++i)
    if (nodes[i].source == capture::Source::kForced) return true;
  return false;
}

}  // namespace

bool LiveRun::can_measure_again() const {
  return documents_.active() && !measuring() && status_->state != LiveState::kRunning &&
         status_->state != LiveState::kLoading &&
         !begins_with_a_choice(*documents_.active()->capture);
}

void LiveRun::measure_again() {
  if (!can_measure_again()) return;
  try {
    const std::string path = new_run_path();
    const RunRequest again = read_request();
    documents_.note_start(path, again);
    host_->measure(again, path, {});
    tell_what_stops();
    measured_ = {path, documents_.active()->serial};
  } catch (const std::exception& error) {
    log_.say(LogLevel::kError, error.what());
  }
}

void LiveRun::stop_measuring() {
  if (!measuring()) return;
  host_->cancel();
  host_->stop();
}

bool LiveRun::finish_measuring() {
  // All fields are read from one snapshot: the thread may be done before the snapshot that says so
  // is taken.
  const bool works = status_->state == LiveState::kRunning || status_->state == LiveState::kLoading;
  if (!measured_ || status_->commands_done < host_->commands_sent() || works) return false;
  const Measured measured = *measured_;
  measured_.reset();
  Document *before = nullptr, *now = nullptr;
  for (const auto& document : documents_.all()) {
    if (document->serial == measured.of_serial) before = document.get();
    if (document->path == measured.path) now = document.get();
  }
  if (!now) return true;  // refused, with a message
  try {
    documents_.poll(*now);
  } catch (const std::exception& error) {
    log_.say(LogLevel::kError, error.what());
    return true;
  }
  if (status_->state != LiveState::kDone || now->capture->status() != capture::RunStatus::kDone ||
      !before)
    return true;  // the run was ended early, or waits for memory
  const auto decoding = [](const Document& document) {
    const capture::Capture& capture = *document.capture;
    return viz::duration_text(
        static_cast<double>(viz::decoding_us_before(capture, capture.end_tick())));
  };
  documents_.activate(before);
  comparison_.start(now);
  documents_.follow();
  log_.say(LogLevel::kInfo, "measured again without drawing: decoded in " + decoding(*now) +
                                ", the run shown in " + decoding(*before));
  return true;
}

}  // namespace triescope::app
