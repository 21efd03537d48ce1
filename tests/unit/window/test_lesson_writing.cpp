// Help for authors of lessons: the file is read again, and actions in the window are recorded.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "app/window/workspace/lesson_progress.h"
#include "app/window/workspace/lesson_recorder.h"
#include "core/base/error.h"
#include "tests/support/environment.h"
#include "tests/support/paths.h"
#include "tests/unit/window/lesson_stage.h"

namespace triescope::app::test_lesson_writing {
namespace {

namespace fs = std::filesystem;

std::vector<lessons::Step> steps_of(const std::string& body) {
  return lessons::read_lesson(
             "---\ntitle: T\nsummary: S\nminutes: 5\nmethod: beam\nprompt: x\n---\n" + body, "a.md")
      .steps;
}

TEST_CASE("progress: steps that did not change keep their answers, wherever they stand now") {
  const auto before = steps_of("## A\na\n## B\nb\n## C\nc\n");
  const auto after = steps_of("## New\nn\n## C\nc\n## A\na\n## B\nb, mended\n");
  LessonProgress progress{.step = 0, .given = {{{0, 2}, {.choice = 1}}, {{1, 0}, {.choice = 3}}}};
  progress.met = {{1, 1}, {2, 4}};
  const LessonProgress now = carried_over(progress, before, after);
  CHECK(now.step == 2);
  CHECK(now.given.size() == 1);
  CHECK(now.given.at({2, 2}).choice == 1);
  CHECK(now.met == std::set<LessonProgress::Place>{{1, 4}});
}

TEST_CASE("progress: one stays at the step one was at, by its title where it changed") {
  const auto before = steps_of("## A\na\n## B\nb\n## C\nc\n");
  CHECK(carried_over({.step = 1}, before, steps_of("## B\nelse\n## A\na\n")).step == 0);
  CHECK(carried_over({.step = 2}, before, steps_of("## X\na\n## Y\nb\n## Z\nc\n")).step == 2);
  CHECK(carried_over({.step = 2}, before, steps_of("## X\na\n## Y\nb\n")).step == 1);
}

TEST_CASE("progress: of equal steps the first is the first") {
  const auto before = steps_of("## A\na\n## A\na\n");
  LessonProgress progress{.step = 1, .given = {{{0, 0}, {.choice = 1}}, {{1, 0}, {.choice = 2}}}};
  const LessonProgress same = carried_over(progress, before, before);
  CHECK(same == progress);
}

TEST_CASE("recorder: the latest of each kind counts, what is as at the beginning is left out") {
  LessonRecorder recorder({.cursor = 5, .locked = 2, .panels = {"trie", "kv"}});
  CHECK(recorder.lines() == std::vector<std::string>{"cursor 1"});
  CHECK(recorder.see({.cursor = 17, .locked = 2, .panels = {"trie", "kv"}}));
  CHECK(recorder.lines() == std::vector<std::string>{"cursor 3 accept"});
  CHECK_FALSE(recorder.see({.cursor = 17, .locked = 2, .panels = {"trie", "kv"}}));
  recorder.see({.cursor = 20, .locked = 7, .range = {{2, 4}}, .panels = {"mask", "kv", "text"}});
  CHECK(recorder.lines() ==
        std::vector<std::string>{"cursor 4", "panels mask kv text", "range 2 4", "lock 7"});
  CHECK(recorder.block() == "```do\ncursor 4\npanels mask kv text\nrange 2 4\nlock 7\n```\n");
  recorder.see({.cursor = 20, .locked = -1, .panels = {"trie", "kv"}, .maximised = "kv"});
  CHECK(recorder.lines() == std::vector<std::string>{"cursor 4", "maximise-panel kv", "lock -1"});
}

TEST_CASE("recorder: of more panels than a lesson shows, those that came to the front") {
  LessonRecorder recorder(
      {.range = {{1, 2}}, .panels = {"trie", "kv", "text", "log"}, .maximised = ""});
  recorder.see({.panels = {"mask", "kv", "text", "log"}});
  CHECK(recorder.lines() == std::vector<std::string>{"cursor 0", "panel mask", "range all"});
}

// A lesson in a folder of its own, over the capture of a built-in one.
struct Desk : test::LessonStage {
  test::TempDir folder;
  test::EnvironmentVariable cache{"XDG_CACHE_HOME", folder.path() / "cache"};
  Desk() {
    const fs::path assets = test::source_dir() / "assets" / "lessons";
    fs::copy_file(assets / "greedy.tscap", folder.path() / "greedy.tscap");
    write(kSteps);
    lesson.open(file());
    play();
    lesson.update(0);
  }
  static constexpr const char* kSteps =
      "## One\n```do\ncursor 1\n```\n```predict\nHow many?\nanswer: 1\n```\n## Two\n```do\ncursor "
      "2\n```\n";
  std::string file() const { return (folder.path() / "mine.md").string(); }
  // Gives each version another time, as an editor would.
  void write(const std::string& steps) {
    std::ofstream(file()) << "---\ntitle: T\nsummary: S\nminutes: 5\ncapture: greedy.tscap\n"
                             "method: greedy\nprompt: The largest planet of our solar system is\n"
                             "max_new_tokens: 10\n---\n"
                          << steps;
    written_ += std::chrono::seconds(1);
    fs::last_write_time(file(), written_);
  }

 private:
  fs::file_time_type written_ = fs::file_time_type::clock::now();
};

TEST_CASE_FIXTURE(Desk, "lesson: the file is read again when it changes, at the step one is at") {
  CHECK(lesson.path() == file());
  CHECK_FALSE(lesson.update(1));
  lesson.answer(1, {.number = 1});
  lesson.go_to(1);
  play();
  write(std::string("## Before\n```do\ncursor 3\n```\n") + kSteps);
  CHECK(lesson.update(2));
  CHECK(lesson.steps() == 3);
  CHECK(lesson.step() == 2);
  CHECK(play() == "");  // the step shown did not change
  lesson.go_to(1);
  REQUIRE(lesson.given(1));
  CHECK(lesson.given(1)->number == 1);
  play();
  // A changed step that is shown runs its new actions.
  write("## One\n```do\ncursor 4\n```\n");
  CHECK(lesson.update(3));
  CHECK(lesson.step() == 0);
  CHECK(play() == "range all\nlock -1\ncursor 4\n");
  CHECK_FALSE(lesson.given(1));
}

TEST_CASE_FIXTURE(Desk, "lesson: the file is looked at now and then, not in every frame") {
  CHECK(lesson.seconds_to_next_look(5) == 0);
  lesson.update(5);
  CHECK(lesson.seconds_to_next_look(5.1) == doctest::Approx(0.3));
  write("## Another\n```do\ncursor 4\n```\n");
  CHECK_FALSE(lesson.update(5.1));
  CHECK(lesson.update(5.5));
  CHECK(lesson.shown_step().title == "Another");
  lesson.close();
  CHECK(lesson.seconds_to_next_look(9) == -1);
  lesson.open("01-one-token-at-a-time");  // built in: it has no file
  CHECK(lesson.seconds_to_next_look(9) == -1);
}

TEST_CASE_FIXTURE(Desk, "lesson: a mistake is told with its line, the last good version stays") {
  write("## One\n```do\ncursr 4\n```\n");
  CHECK(lesson.update(1));
  CHECK(lesson.mistake() ==
        file() +
            ":12: a lesson cannot do 'cursr'; expected one of cursor, range, lock, panels, panel, "
            "maximise-panel, beside, set-up, run; did you mean cursor?");
  CHECK(lesson.steps() == 2);
  CHECK(lesson.shown_step().title == "One");
  CHECK(lesson.state_json()["mistake"] == lesson.mistake());
  CHECK_FALSE(lesson.update(2));
  write(kSteps);
  CHECK(lesson.update(3));
  CHECK(lesson.mistake() == "");
}

TEST_CASE_FIXTURE(Desk, "lesson: a link in its capture's place is told, and the run stays") {
  const fs::path capture = folder.path() / "greedy.tscap";
  fs::rename(capture, folder.path() / "elsewhere.tscap");
  fs::last_write_time(folder.path() / "elsewhere.tscap",
                      fs::file_time_type::clock::now() + std::chrono::seconds(5));
  fs::create_symlink("elsewhere.tscap", capture);
  CHECK(lesson.update(1));
  CHECK(lesson.mistake().find("found a link") != std::string::npos);
  CHECK(lesson.ready());
  CHECK(lesson.steps() == 2);
}

TEST_CASE_FIXTURE(Desk, "lesson: what does not hold against the run is told as it is written") {
  CHECK(lesson.findings().empty());
  write("## One\n```do\ncursor 99\n```\n`= kv_live(77)` ![x](gone.png)\n");
  CHECK(lesson.update(1));
  CHECK(lesson.mistake() == "");
  const auto& findings = lesson.findings();
  REQUIRE(findings.size() == 4);
  CHECK(findings[0].line == 10);
  CHECK(findings[0].text.starts_with("the step 'One' has no `cursor` in a do block"));
  CHECK(findings[1].line == 12);
  CHECK(findings[1].text == "there is no step 99; the run has steps 0 to 9");
  CHECK(findings[2].line == 14);
  CHECK(findings[2].text == "column 2: there is no step 77; the run has steps 0 to 9");
  CHECK(findings[3].text.ends_with("gone.png: no such file beside the lesson"));
  CHECK_FALSE(lesson.update(2));
  write(kSteps);
  CHECK(lesson.update(3));
  CHECK(lesson.findings().empty());
}

TEST_CASE_FIXTURE(Desk, "lesson: a capture that was recorded again is opened again") {
  const std::uint64_t before = lesson.document()->serial;
  const fs::path capture = folder.path() / "greedy.tscap";
  fs::copy_file(capture, folder.path() / "new");
  fs::rename(folder.path() / "new", capture);
  fs::last_write_time(capture, fs::file_time_type::clock::now() + std::chrono::seconds(9));
  CHECK(lesson.update(1));
  REQUIRE(lesson.document());
  CHECK(lesson.document()->serial != before);
  CHECK(workspace.documents.all().size() == 1);
  CHECK(play() == "range all\nlock -1\ncursor 1\n");
  CHECK_FALSE(lesson.update(2));
}

TEST_CASE_FIXTURE(Desk, "lesson: what is done is recorded, and goes to the clipboard as a block") {
  const Command* const record = commands.find("lesson-record");
  REQUIRE(record);
  REQUIRE(record->is_enabled());
  lesson.notice({"trie", "text"});
  record->run();
  REQUIRE(lesson.recorder());
  CHECK(record->checked());
  workspace.documents.set_cursor(capture::make_tick(3, capture::Phase::kAccept));
  workspace.comparison.lock_focus(2);
  lesson.notice({"mask", "text"});
  CHECK(lesson.state_json()["recorded"] ==
        nlohmann::json{"cursor 3 accept", "panels mask text", "lock 2"});
  record->run();
  CHECK_FALSE(lesson.recorder());
  CHECK(ui.copy == "```do\ncursor 3 accept\npanels mask text\nlock 2\n```\n");
  // The lesson shows what was recorded and pasted.
  write("## One\n" + ui.copy);
  lesson.update(1);
  CHECK(play() == "range all\nlock -1\ncursor 3 accept\npanels mask text\nlock 2\n");
  lesson.open("01-one-token-at-a-time");
  CHECK_FALSE(record->is_enabled());
}

TEST_CASE_FIXTURE(Desk, "lesson: a run is set up, or started, as the lesson's with changes") {
  write("## One\n```do\ncursor 1\nset-up seed=7 max_new_tokens=4\n```\n");
  lesson.update(1);
  CHECK(play() ==
        "range all\nlock -1\ncursor 1\nmethod greedy\nchat off\nprompt-is-ids off\n"
        "prompt The largest planet of our solar system is\nmax-new-tokens 4\nseed 7\nrun-bar \n");
  CHECK(workspace.request().seed == 7);
  CHECK(workspace.request().max_new_tokens == 4);
  CHECK(workspace.preferences.run_bar_open);
  const RunRequest changed = changed_request(lesson.lesson().lesson, "kv=keep seed=9");
  CHECK(changed.settings.at("kv") == "keep");
  CHECK(changed.seed == 9);
  CHECK(changed.max_new_tokens == 10);
  CHECK_THROWS_AS(changed_request(lesson.lesson().lesson, "kv=keeep"), Error);
}

TEST_CASE_FIXTURE(Desk,
                  "lesson: an experiment is drawn by a thread, once, and again with another seed") {
  write(
      "## One\n```do\ncursor 1\n```\n```experiment\nx\n- a := 1\n- b := 3\nrule: gumbel_max\n```\n");
  lesson.update(1);
  const ExperimentTask* const task = lesson.experiment(1);
  REQUIRE(task);
  while (!task->drawing.done()) std::this_thread::yield();
  CHECK(task->drawing.error() == "");
  CHECK(lesson.experiment(1) == task);
  const auto counts = task->drawing.value().counts;
  CHECK(counts[0] + counts[1] == 10000);
  CHECK(lesson.update(1.1));  // the window updates once
  CHECK_FALSE(lesson.update(1.2));
  lesson.draw_again(1);
  const ExperimentTask* const again = lesson.experiment(1);
  while (!again->drawing.done()) std::this_thread::yield();
  CHECK(again->setup.seed == 2);
  CHECK(again->drawing.value().counts != counts);
}

}  // namespace
}  // namespace triescope::app::test_lesson_writing
