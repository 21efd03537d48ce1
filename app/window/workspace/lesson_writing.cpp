// LessonPlayer's help for authors: it reads the file again when it changes, and records what is
// done in the window.
#include <algorithm>

#include "app/lesson/lesson_beside.h"
#include "app/lesson/lesson_pictures.h"
#include "app/window/workspace/lesson_player.h"
#include "core/base/error.h"
#include "viz/panels/panel.h"

namespace triescope::app {
namespace {

constexpr double kLookSeconds = 0.4;

bool same_run(const lessons::FrontMatter& a, const lessons::FrontMatter& b) {
  return a.capture == b.capture && a.model == b.model && a.draft == b.draft &&
         a.method == b.method && a.settings == b.settings && a.prompt == b.prompt &&
         a.chat == b.chat && a.max_new_tokens == b.max_new_tokens && a.seed == b.seed;
}

}  // namespace

std::string LessonPlayer::path() const {
  if (lesson_->folder.empty()) return {};
  return (std::filesystem::path(lesson_->folder) / lesson_->file).string();
}

LessonPlayer::Stamp LessonPlayer::stamp_of(const std::string& path) {
  std::error_code ec;
  Stamp stamp;
  stamp.written = std::filesystem::last_write_time(path, ec);
  if (ec) return {};
  stamp.bytes = std::filesystem::file_size(path, ec);
  return ec ? Stamp{} : stamp;
}

double LessonPlayer::seconds_to_next_look(double seconds) const {
  if (!is_open() || lesson_->folder.empty()) return -1;
  return std::max(0.0, next_look_ - seconds);
}

bool LessonPlayer::update(double seconds) {
  std::size_t drawn = 0;
  for (const auto& [place, task] : experiments_) drawn += task && task->drawing.done();
  bool changed = std::exchange(drawn_, drawn) != drawn;
  if (!is_open() || lesson_->folder.empty() || seconds < next_look_) return changed;
  next_look_ = seconds + kLookSeconds;
  const Stamp file = stamp_of(path());
  const std::string& capture = lesson_->lesson.about.capture;
  // A symbolic link in place of the capture is refused, with a message, where the lesson is read
  // again.
  const Stamp run = capture.empty()
                        ? Stamp{}
                        : stamp_of((std::filesystem::path(lesson_->folder) / capture).string());
  const bool other_run = !capture.empty() && run != capture_ && run != Stamp{};
  if (file != file_ || other_run) {
    file_ = file;
    read_again(other_run);
    changed = true;
  }
  return check_again() || changed;
}

bool LessonPlayer::check_again() {
  if (!ready() || checked_ == std::pair{reads_, document()->serial}) return false;
  checked_ = {reads_, document()->serial};
  findings_ = check_lesson(lesson_->lesson, *document()->capture, viz::panel_names(),
                           lessons_beside(*lesson_));
  for (lessons::Finding& other : check_pictures(*lesson_)) findings_.push_back(std::move(other));
  for (lessons::Finding& other : check_beside(*lesson_)) findings_.push_back(std::move(other));
  return true;
}

void LessonPlayer::read_again(bool other_run) {
  LibraryLesson next;
  try {
    next = find_lesson(path());
    capture_of(next);
  } catch (const Error& error) {
    mistake_ = error.what();
    return;
  }
  mistake_.clear();
  ++reads_;
  other_run |= !same_run(lesson_->lesson.about, next.lesson.about);
  const std::string before = shown_step().source;
  progress() = carried_over(progress(), lesson_->lesson.steps, next.lesson.steps);
  lesson_ = std::move(next);
  experiments_.clear();
  if (other_run) {
    if (Document* const old = document()) run_.close(old);
    open_run();
  }
  if (other_run || shown_step().source != before) show_again();
}

void LessonPlayer::start_recording() {
  if (document()) recorder_.emplace(seen());
}

std::string LessonPlayer::stop_recording() {
  if (!recorder_) return {};
  const std::string block = recorder_->block();
  recorder_.reset();
  return block;
}

}  // namespace triescope::app
