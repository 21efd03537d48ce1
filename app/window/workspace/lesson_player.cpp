#include "app/window/workspace/lesson_player.h"

#include <algorithm>

#include "app/lesson/lesson_words.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

using lessons::Piece;
using lessons::Predict;
using lessons::Task;

}  // namespace

void LessonPlayer::open(const std::string& path_or_name) {
  LibraryLesson next = find_lesson(path_or_name);
  capture_of(next);  // refused before anything changes
  if (!is_open()) {
    layouts_.lend();
    run_bar_open_ = preferences_.run_bar_open;
    preferences_.run_bar_open = false;
  }
  lesson_ = std::move(next);
  asked_panels_.clear();
  experiments_.clear();
  LessonProgress& old = progress();
  old.step = std::min(old.step, steps() - 1);
  if (at_the_end()) old = {};  // starts over
  commands_.clear();
  waiting_.clear();
  recorder_.reset();
  mistake_.clear();
  findings_.clear();
  ++reads_;
  file_ = stamp_of(path());
  open_run();
  go_to(old.step);
}

void LessonPlayer::close() {
  lesson_.reset();
  recorder_.reset();
  experiments_.clear();
  commands_.clear();
  waiting_.clear();
  layouts_.take_back();
  preferences_.run_bar_open = run_bar_open_;
}

const LessonProgress* LessonPlayer::progress_of(const std::string& id) const {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : &found->second;
}

void LessonPlayer::open_run() {
  document_ = 0;
  if (const std::string path = capture_of(*lesson_); !path.empty()) {
    document_ = documents_.open_unlisted(path)->serial;
    capture_ = stamp_of(path);
    return;
  }
  run_before_ = run_.status().run_serial;
  run_.start(request_of(lesson_->lesson), /*run_at_once=*/true);
}

std::string LessonPlayer::next_lesson() const { return lesson_->lesson.about.next; }

Document* LessonPlayer::document() const {
  for (const auto& document : documents_.all()) {
    if (document_ != 0 && document->serial == document_) return document.get();
    if (document_ == 0 && document->run_serial > run_before_) return document.get();
  }
  return nullptr;
}

bool LessonPlayer::ready() const {
  const Document* const run = document();
  return run && run->capture->last_step() >= 0 &&
         run->capture->status() != capture::RunStatus::kRunning;
}

void LessonPlayer::go_to(std::size_t step) {
  progress().step = std::min(step, steps() - 1);
  show_again();
  finish_if_done();
}

void LessonPlayer::show_again() {
  // The document was closed meanwhile. A run that is about to be decoded has none yet either.
  if (!document() && (document_ != 0 || run_.idle())) open_run();
  commands_ = {{"range", "all"}, {"lock", "-1"}};
  layouts_.maximised.clear();
  waiting_.clear();
  perform(0, shown_pieces());
}

std::size_t LessonPlayer::shown_pieces() const {
  const std::optional<std::size_t> question = open_question();
  return question ? *question + 1 : shown_step().pieces.size();
}

std::optional<std::size_t> LessonPlayer::open_question() const {
  const std::vector<Piece>& pieces = shown_step().pieces;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (std::holds_alternative<Predict>(pieces[i]) && !given(i)) return i;
  return std::nullopt;
}

std::optional<std::size_t> LessonPlayer::open_task() const {
  const std::vector<Piece>& pieces = shown_step().pieces;
  for (std::size_t i = 0; i < shown_pieces(); ++i)
    if (std::holds_alternative<Task>(pieces[i]) && !is_met(i)) return i;
  return std::nullopt;
}

const LessonPlayer::Given* LessonPlayer::given(std::size_t piece) const {
  const auto found = progress().given.find({step(), piece});
  return found == progress().given.end() ? nullptr : &found->second;
}

void LessonPlayer::answer(std::size_t piece, Given given) {
  const std::size_t before = shown_pieces();
  if (!progress().given.insert({{step(), piece}, given}).second) return;
  perform(before, shown_pieces());
  finish_if_done();
}

void LessonPlayer::show_me(std::size_t piece) {
  perform(std::get<Task>(shown_step().pieces[piece]).show);
}

LessonRecorder::Seen LessonPlayer::seen() const {
  const Document& run = *document();
  return {run.cursor, run.focus.locked, run.range, panels_, layouts_.maximised};
}

bool LessonPlayer::notice(const std::vector<std::string>& panels) {
  const Document* const run = document();
  panels_ = panels;
  if (recorder_ && run && run == documents_.active()) recorder_->see(seen());
  if (!ready() || run != documents_.active() || !commands_.empty() || !waiting_.empty())
    return false;
  const lessons::Moment moment{run->cursor, run->focus.locked, panels};
  bool met = false;
  for (std::size_t i = 0; i < shown_pieces(); ++i) {
    const Task* const task = std::get_if<Task>(&shown_step().pieces[i]);
    if (!task || is_met(i)) continue;
    try {
      if (evaluate_truth(task->when.expression, {*run->capture, &moment}))
        met |= progress().met.insert({step(), i}).second;
    } catch (const Error&) {
      // An expression that this run cannot answer is not met; `lesson check` says why.
    }
  }
  return met;
}

bool LessonPlayer::at_the_end() const { return step() + 1 == steps() && !open_question(); }

void LessonPlayer::finish_if_done() {
  if (at_the_end()) preferences_.finished_lessons.insert(lesson_->id);
}

lessons::Trace LessonPlayer::trace() const { return {*document()->capture}; }

std::string LessonPlayer::text_of(const lessons::Expression& expression) const {
  if (!ready()) return "…";
  try {
    return shown_value(evaluate(expression, trace()));
  } catch (const Error&) {
    return "?";  // `lesson check` says why
  }
}

std::string LessonPlayer::text_of(const lessons::Filled& filled) const {
  if (!ready()) return "…";
  try {
    return phrase(filled, trace(), shown_value);
  } catch (const Error&) {
    return "?";
  }
}

std::optional<lessons::Answer> LessonPlayer::answer_of(const Predict& predict) const {
  if (!ready()) return std::nullopt;
  try {
    return lessons::answer_of(predict, trace());
  } catch (const Error&) {
    return std::nullopt;
  }
}

const ExperimentTask* LessonPlayer::experiment(std::size_t piece) {
  auto& task = experiments_[{step(), piece}];
  if (task || !ready()) return task.get();
  try {
    const auto& asked = std::get<lessons::Experiment>(shown_step().pieces[piece]);
    task = std::make_unique<ExperimentTask>(resolve_experiment(asked, trace()), wake_);
  } catch (const Error&) {
    // `lesson check` says why.
  }
  return task.get();
}

void LessonPlayer::draw_again(std::size_t piece) {
  auto& task = experiments_[{step(), piece}];
  if (!task) return;
  lessons::ExperimentSetup setup = task->setup;
  ++setup.seed;
  task = std::make_unique<ExperimentTask>(std::move(setup), wake_);
}

bool LessonPlayer::is_drawing() const {
  return std::any_of(experiments_.begin(), experiments_.end(),
                     [](const auto& one) { return one.second && !one.second->drawing.done(); });
}

nlohmann::json LessonPlayer::state_json() const {
  if (!is_open()) return nullptr;
  nlohmann::json state = {{"name", lesson_->id},
                          {"step", step()},
                          {"steps", steps()},
                          {"title", shown_step().title},
                          {"shown_pieces", shown_pieces()},
                          {"pieces", shown_step().pieces.size()},
                          {"ready", ready()},
                          {"question_open", open_question().has_value()},
                          {"task_open", open_task().has_value()},
                          {"answered", progress().given.size()},
                          {"met", progress().met.size()},
                          {"mistake", mistake_},
                          {"findings", findings_.size()},
                          {"recorded", recorder_ ? nlohmann::json(recorder_->lines()) : nullptr},
                          {"experiments", drawn_},
                          {"drawn", nlohmann::json::array()}};
  for (const auto& [place, task] : experiments_)
    if (place.first == step() && task && task->drawing.done() && task->drawing.error().empty())
      state["drawn"].push_back({{"seed", task->setup.seed},
                                {"draws", task->setup.draws},
                                {"expected", expected_of(task->setup)},
                                {"counts", task->drawing.value().counts},
                                {"chi_square", task->drawing.value().chi.value},
                                {"degrees", task->drawing.value().chi.degrees},
                                {"agrees", task->drawing.value().agrees()}});
  return state;
}

}  // namespace triescope::app
