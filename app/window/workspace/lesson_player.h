// LessonPlayer: the open lesson: where one is in it, what was answered, which tasks are met. Draws
// nothing. It changes the window only through commands (take_commands()), so a lesson can do what a
// person could. Not thread-safe: the window thread owns it, as it owns the workspace.
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

#include "app/lesson/experiment.h"
#include "app/lesson/lesson_library.h"
#include "app/window/workspace/later.h"
#include "app/window/workspace/lesson_progress.h"
#include "app/window/workspace/lesson_recorder.h"
#include "app/window/workspace/live_run.h"
#include "app/window/workspace/script_command.h"
#include "lessons/check_lesson.h"

namespace triescope::app {

// One experiment, drawn on a thread of its own.
struct ExperimentTask {
  ExperimentTask(lessons::ExperimentSetup asked, std::function<void()> wake)
      : setup(std::move(asked)),
        drawing([this](std::stop_token stop) { return run_experiment(setup, stop); },
                std::move(wake)) {}

  const lessons::ExperimentSetup setup;
  Later<ExperimentResult> drawing;  // declared last: it reads `setup`
};

class LessonPlayer {
 public:
  using Given = LessonAnswer;

  // `wake` is called from another thread once draws are done.
  LessonPlayer(Documents& documents, Comparison& comparison, LiveRun& run, Layouts& layouts,
               Preferences& preferences, Messages& log, std::function<void()> wake)
      : documents_(documents),
        comparison_(comparison),
        run_(run),
        layouts_(layouts),
        preferences_(preferences),
        log_(log),
        wake_(std::move(wake)) {}

  // Takes a path or the name of a built-in lesson. Begins where the lesson was left in this
  // session. Decodes its run where it has no capture. Errors: those of find_lesson() and
  // capture_of(); nothing changes then.
  void open(const std::string& path_or_name);
  void close();  // the layout becomes what it was before
  bool is_open() const { return lesson_.has_value(); }
  // How far one got in a lesson in this session, open or not. nullptr: it was not opened.
  const LessonProgress* progress_of(const std::string& id) const;
  // REQUIRES for all below: is_open().
  const LibraryLesson& lesson() const { return *lesson_; }
  std::string next_lesson() const;  // file name; "" = none
  Document* document() const;       // nullptr: closed, or not recorded yet
  bool ready() const;               // the run is recorded to its end

  std::size_t step() const { return progress().step; }
  const lessons::Step& shown_step() const { return lesson_->lesson.steps[step()]; }
  std::size_t steps() const { return lesson_->lesson.steps.size(); }
  void go_to(std::size_t step);
  void show_again();  // brings back what the step shows, after one has looked elsewhere

  // The number of pieces shown: all up to the step's first open question, and that one.
  std::size_t shown_pieces() const;
  std::optional<std::size_t> open_question() const;
  std::optional<std::size_t> open_task() const;
  const Given* given(std::size_t piece) const;
  void answer(std::size_t piece, Given given);
  bool is_met(std::size_t piece) const { return progress().met.count({step(), piece}) > 0; }
  void show_me(std::size_t piece);
  // Takes in what is seen; a task that is met stays met. True if one was met now.
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
  // The draws of this piece; the first call starts them. Null: the run has no values for it.
  const ExperimentTask* experiment(std::size_t piece);
  void draw_again(std::size_t piece);  // with the next seed
  bool is_drawing() const;             // a draw that was begun is not done

  // --- while it is being written ---
  // Takes in what other threads drew. Also reads a lesson's file again when that or its capture
  // changes. True if anything did. `seconds` is a steady clock.
  bool update(double seconds);
  // Seconds until the file is to be looked at again; negative = never.
  double seconds_to_next_look(double seconds) const;
  // Why the file as it is now cannot be shown: file, line, what was expected. The last readable
  // version is shown meanwhile. "" = the file is shown.
  const std::string& mistake() const { return mistake_; }
  // The findings of `lesson check` for a lesson of a file. Experiments are missing: they are drawn
  // where they stand.
  const std::vector<lessons::Finding>& findings() const { return findings_; }
  std::string path() const;  // of its file; "" = built in
  // Changes whenever the lesson is read again.
  std::string version() const { return path() + std::to_string(reads_); }
  // Actions in the window become lines of a do block, from start to stop.
  void start_recording();
  std::string stop_recording();  // returns the block
  const LessonRecorder* recorder() const { return recorder_ ? &*recorder_ : nullptr; }

  // --- links ---
  void follow(const lessons::Link& link);
  std::int32_t node_of(const lessons::Link& link) const;  // the node to light up; -1 = none

  // Whether the run bar was open before the lesson.
  bool run_bar_before() const { return run_bar_open_; }
  // The panels that the last step with a `panels` line asked for; empty = none has.
  const std::vector<std::string>& asked_panels() const { return asked_panels_; }

  // The commands for the window to run now; each is returned once.
  std::vector<ScriptCommand> take_commands();
  nlohmann::json state_json() const;  // null where no lesson is open

 private:
  using Place = LessonProgress::Place;
  // A file's state when it was read last.
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
  bool check_again();  // true: the lesson had not been checked yet
  void open_run();
  void perform(std::size_t first, std::size_t last);  // the actions of these pieces
  void perform(const std::vector<lessons::Action>& actions);
  // Opens another capture of the lesson's folder. Returns the command that shows it beside the lesson's run.
  ScriptCommand put_beside(const std::string& capture);
  // The commands that put a run into the run bar, and start it where `start` is set.
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
  std::map<std::string, LessonProgress> all_;  // by lesson; this session's
  std::uint64_t document_ = 0;                 // serial
  std::uint64_t run_before_ = 0;               // newest serial when the lesson's started
  std::map<Place, std::unique_ptr<ExperimentTask>> experiments_;
  std::size_t drawn_ = 0;  // number of draws that were done at the last update
  std::optional<LessonRecorder> recorder_;
  std::vector<std::string> panels_;  // visible when notice() was called last
  std::vector<std::string> asked_panels_;
  Stamp file_, capture_;
  double next_look_ = 0;
  std::string mistake_;
  std::uint64_t reads_ = 0;
  std::vector<lessons::Finding> findings_;
  std::pair<std::uint64_t, std::uint64_t> checked_;  // reading, document
  std::vector<lessons::Action> waiting_;
  std::vector<ScriptCommand> commands_;
  bool run_bar_open_ = true;  // the window's, before the lesson
};

}  // namespace triescope::app
