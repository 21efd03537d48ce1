// LessonPlayer: the lesson that is open: where one is in it, what was answered, which tasks are met.
// No drawing. It changes what is seen by commands for the window alone (take_commands), so a lesson can
// do what a person could. Not thread-safe: the window thread's own, as the workspace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/lesson/lesson_library.h"
#include "app/window/workspace/experiment_task.h"
#include "app/window/workspace/lesson_progress.h"
#include "app/window/workspace/lesson_recorder.h"
#include "app/window/workspace/live_run.h"
#include "app/window/workspace/script_command.h"
#include "lessons/check_lesson.h"

namespace triescope::app {

class LessonPlayer {
 public:
  using Given = LessonAnswer;

  // `wake`: called from another thread once draws are done.
  LessonPlayer(Documents& documents, Comparison& comparison, LiveRun& run, Layouts& layouts,
               Preferences& preferences, Messages& log, std::function<void()> wake)
      : documents_(documents),
        comparison_(comparison),
        run_(run),
        layouts_(layouts),
        preferences_(preferences),
        log_(log),
        wake_(std::move(wake)) {}

  // A path, or the name of a lesson there is. It begins where it was left in this session. Without a
  // capture its run is decoded. Errors: find_lesson(), capture_of(); nothing changes then.
  void open(const std::string& path_or_name);
  void close();  // the layout is again as it was before
  bool is_open() const { return lesson_.has_value(); }
  // In a lesson, open or not, as far as one got in this session. nullptr: it was not opened.
  const LessonProgress* progress_of(const std::string& id) const;
  // REQUIRES of all below: is_open().
  const LibraryLesson& lesson() const { return *lesson_; }
  std::string next_lesson() const;  // file name; "" = none
  Document* document() const;       // nullptr: closed, or not there yet
  bool ready() const;               // the run is there to its end

  std::size_t step() const { return progress().step; }
  const lessons::Step& shown_step() const { return lesson_->lesson.steps[step()]; }
  std::size_t steps() const { return lesson_->lesson.steps.size(); }
  void go_to(std::size_t step);
  void show_again();  // what the step shows, after one has looked elsewhere

  // Pieces of the step up to and with the first question that nobody has answered.
  std::size_t shown_pieces() const;
  std::optional<std::size_t> open_question() const;
  std::optional<std::size_t> open_task() const;
  const Given* given(std::size_t piece) const;
  void answer(std::size_t piece, Given given);
  bool is_met(std::size_t piece) const { return progress().met.count({step(), piece}) > 0; }
  void show_me(std::size_t piece);
  // Takes in what is seen: a task that is met now stays met. True if one was.
  bool notice(const std::vector<std::string>& panels);
  // The last step was reached, and no question of it is open.
  bool at_the_end() const;

  // --- values ---
  lessons::Trace trace() const;
  std::string text_of(const lessons::Expression& expression) const;
  std::string text_of(const lessons::Filled& filled) const;
  // nullopt: it cannot be computed.
  std::optional<lessons::Answer> answer_of(const lessons::Predict& predict) const;

  // --- experiments ---
  // The draws of this piece, begun when they are first asked for. Null: the run has no values for it.
  const ExperimentTask* experiment(std::size_t piece);
  void draw_again(std::size_t piece);  // with the next seed
  bool is_drawing() const;             // one that was begun is not done

  // --- while it is being written ---
  // Takes in what other threads drew, and what was written to its file: a lesson of a file is read again
  // when that or its capture changes. True: something did. `seconds`: a steady clock.
  bool update(double seconds);
  // When the file wants to be looked at again; negative = never.
  double seconds_to_next_look(double seconds) const;
  // Why the file as it is now cannot be shown: file, line, what was expected. The last version that could
  // be is shown meanwhile. "" = it is shown.
  const std::string& mistake() const { return mistake_; }
  // What `lesson check` says of a lesson of a file, but for experiments, which are drawn where they stand.
  const std::vector<lessons::Finding>& findings() const { return findings_; }
  std::string path() const;  // of its file; "" = built in
  // Changes whenever it is read again.
  std::string version() const { return path() + std::to_string(reads_); }
  // What is done in the window becomes lines of a do block.
  void start_recording();
  std::string stop_recording();  // the block
  const LessonRecorder* recorder() const { return recorder_ ? &*recorder_ : nullptr; }

  // --- links ---
  void follow(const lessons::Link& link);
  std::int32_t node_of(const lessons::Link& link) const;  // to light up; -1 = none

  // Whether the run bar was open before the lesson.
  bool run_bar_before() const { return run_bar_open_; }
  // The panels that a step asked for last; none: it has not yet.
  const std::vector<std::string>& asked_panels() const { return asked_panels_; }

  // What the window is to do now; each command once.
  std::vector<ScriptCommand> take_commands();
  nlohmann::json state_json() const;  // null where none is open

 private:
  using Place = LessonProgress::Place;
  // A file as it was when it was read last.
  struct Stamp {
    std::filesystem::file_time_type written = {};
    std::uintmax_t bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp stamp_of(const std::string& path);
  LessonProgress& progress() { return all_[lesson_->id]; }
  const LessonProgress& progress() const { return all_.at(lesson_->id); }
  LessonRecorder::Seen seen() const;
  void read_again(bool other_run);
  bool check_again();  // true: it was not checked yet
  void open_run();
  void perform(std::size_t first, std::size_t last);  // the actions of these pieces
  void perform(const std::vector<lessons::Action>& actions);
  // What shows another capture of the lesson's folder beside the lesson's run, which it opens.
  ScriptCommand put_beside(const std::string& capture);
  // What puts a run into the run bar, and starts it.
  std::vector<ScriptCommand> run_commands(const RunRequest& request, bool start) const;
  void finish_if_done();

  Documents& documents_;
  Comparison& comparison_;
  LiveRun& run_;
  Layouts& layouts_;
  Preferences& preferences_;
  Messages& log_;
  std::function<void()> wake_;
  std::optional<LibraryLesson> lesson_;
  std::map<std::string, LessonProgress> all_;  // by lesson, of this session
  std::uint64_t document_ = 0;                 // serial
  std::uint64_t run_before_ = 0;               // the newest run when ours was started
  std::map<Place, std::unique_ptr<ExperimentTask>> experiments_;
  std::size_t drawn_ = 0;  // experiments that were done when looked at last
  std::optional<LessonRecorder> recorder_;
  std::vector<std::string> panels_;  // visible when looked at last
  std::vector<std::string> asked_panels_;
  Stamp file_, capture_;
  double next_look_ = 0;
  std::string mistake_;
  std::uint64_t reads_ = 0;
  std::vector<lessons::Finding> findings_;
  std::pair<std::uint64_t, std::uint64_t> checked_;  // of which reading, with which document
  std::vector<lessons::Action> waiting_;
  std::vector<ScriptCommand> commands_;
  bool run_bar_open_ = true;  // of the window, before the lesson
};

}  // namespace triescope::app
