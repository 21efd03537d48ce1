// A lesson played without a window: what is hidden until somebody answers, the commands it gives,
// what is remembered.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "app/lesson/lesson_words.h"
#include "core/base/error.h"
#include "tests/support/environment.h"
#include "tests/support/paths.h"
#include "tests/unit/window/lesson_stage.h"

namespace triescope::app::test_lesson_player {
namespace {

constexpr const char* kTrie = "03-beam-search-is-a-trie";

struct Class : test::LessonStage {
  test::TempDir folder;
  test::EnvironmentVariable cache{"XDG_CACHE_HOME", folder.path()};
};

TEST_CASE_FIXTURE(Class, "lesson: opening one shows its first step on its own capture") {
  lesson.open(kTrie);
  REQUIRE(lesson.is_open());
  CHECK(lesson.step() == 0);
  CHECK(lesson.steps() == 6);
  CHECK(lesson.ready());
  REQUIRE(workspace.active() == lesson.document());
  const std::string& path = workspace.active()->path;
  CHECK(path.starts_with((folder.path() / "triescope/lessons/").string()));
  CHECK(path.ends_with("/beam.tscap"));
  CHECK(workspace.preferences.recent_captures.empty());
  CHECK(play() == "range all\nlock -1\ncursor 1\npanels trie candidates\n");
  CHECK(play() == "");
  CHECK(workspace.active()->cursor == capture::make_tick(1, capture::Phase::kDraft));
  CHECK(workspace.layouts.now.root->first->panels == std::vector<std::string>{"trie"});
  CHECK(workspace.layouts.now.root->second->panels.front() == "candidates");
  CHECK(workspace.layouts.now.root->second->panels.size() == workspace.active()->panels.size() - 1);
  lesson.open(kTrie);
  CHECK(workspace.documents.all().size() == 1);
  // Its bookmarks stay.
  workspace.documents.add_bookmark("mine");
  workspace.run.close(workspace.active());
  lesson.open(kTrie);
  REQUIRE(workspace.active());
  CHECK(workspace.active()->capture->bookmarks().size() == 1);
}

TEST_CASE_FIXTURE(Class, "lesson: what follows a question stays hidden until somebody answers") {
  lesson.open(kTrie);
  lesson.go_to(1);
  REQUIRE(lesson.shown_step().pieces.size() == 5);
  REQUIRE(lesson.open_question() == 2);
  CHECK(lesson.shown_pieces() == 3);
  CHECK(play() == "range all\nlock -1\ncursor 1 accept\npanels candidates trie\n");
  CHECK(lesson.given(2) == nullptr);
  lesson.answer(2, {.choice = 0});
  CHECK_FALSE(lesson.open_question());
  CHECK(lesson.shown_pieces() == 5);
  CHECK(play() == "cursor 2\n");
  CHECK(lesson.given(2)->choice == 0);
  lesson.answer(2, {.choice = 1});  // the first answer counts
  CHECK(lesson.given(2)->choice == 0);
  const auto answer = lesson.answer_of(std::get<lessons::Predict>(lesson.shown_step().pieces[2]));
  REQUIRE(answer);
  CHECK(answer->choice == 2);
  // After going back and forth the answer is still there, and so are the pieces it revealed.
  lesson.go_to(0);
  play();
  lesson.go_to(1);
  CHECK(lesson.shown_pieces() == 5);
  CHECK(play() == "range all\nlock -1\ncursor 1 accept\npanels candidates trie\ncursor 2\n");
}

TEST_CASE_FIXTURE(Class, "lesson: a step sets its state from wherever one comes") {
  lesson.open(kTrie);
  play();
  workspace.documents.set_cursor(3);
  workspace.comparison.lock_focus(7);
  workspace.layouts.maximised = "mask";
  workspace.use_layout("memory");
  workspace.comparison.set_range_of(*workspace.active(), std::pair{1, 2});
  lesson.show_again();
  play();
  CHECK(workspace.active()->cursor == capture::make_tick(1, capture::Phase::kDraft));
  CHECK(workspace.active()->focus.locked == -1);
  CHECK_FALSE(workspace.active()->range);
  CHECK(workspace.layouts.maximised.empty());
  CHECK(workspace.layouts.now.root->first->panels == std::vector<std::string>{"trie"});
  // It comes back even after its capture was closed.
  workspace.run.close(workspace.active());
  CHECK_FALSE(lesson.ready());
  lesson.go_to(2);
  REQUIRE(lesson.ready());
  play();
  CHECK(workspace.active()->cursor == capture::make_tick(2, capture::Phase::kAccept));
}

TEST_CASE_FIXTURE(Class, "lesson: a task is met by what is seen, once and for all, or shown") {
  lesson.open(kTrie);
  lesson.go_to(5);
  play();
  REQUIRE(lesson.open_task() == 1);
  CHECK_FALSE(lesson.notice({"trie"}));
  lesson.show_me(1);
  CHECK(play() == "cursor 7\nlock 13\n");
  CHECK(lesson.notice({"trie"}));
  CHECK(lesson.is_met(1));
  CHECK_FALSE(lesson.open_task());
  CHECK_FALSE(lesson.notice({"trie"}));
  workspace.comparison.lock_focus(-1);
  CHECK(lesson.is_met(1));
}

TEST_CASE_FIXTURE(Class, "lesson: it is finished once its last step has no open question") {
  auto& finished = workspace.preferences.finished_lessons;
  lesson.open("06-why-a-beam-falls-out");
  lesson.go_to(lesson.steps() - 1);
  CHECK(finished.empty());
  lesson.answer(*lesson.open_question(), {});
  CHECK(finished == std::set<std::string>{"06-why-a-beam-falls-out"});
  CHECK(lesson.at_the_end());
  lesson.open("06-why-a-beam-falls-out");  // again, from the beginning
  CHECK(lesson.step() == 0);
  CHECK_FALSE(lesson.at_the_end());
  CHECK(finished.size() == 1);
}

TEST_CASE_FIXTURE(Class, "lesson: leaving it brings panels and run bar back") {
  workspace.use_layout("memory");
  const nlohmann::json before = layout_to_json(workspace.layouts.now);
  CHECK(workspace.preferences.run_bar_open);
  lesson.open(kTrie);
  play();
  CHECK_FALSE(workspace.preferences.run_bar_open);
  CHECK(layout_to_json(workspace.layouts.now) != before);
  lesson.open("05-garbage-and-recycling");
  play();
  lesson.close();
  CHECK_FALSE(lesson.is_open());
  CHECK(layout_to_json(workspace.layouts.now) == before);
  CHECK(workspace.layouts.name == "memory");
  CHECK(workspace.preferences.run_bar_open);
  CHECK(workspace.documents.all().size() == 2);
}

TEST_CASE_FIXTURE(Class, "lesson: commands and links do what they say") {
  const auto run = [&](const char* id) {
    REQUIRE(commands.find(id));
    REQUIRE(commands.find(id)->is_enabled());
    commands.find(id)->run();
  };
  CHECK_FALSE(commands.find("lesson-next")->is_enabled());
  CHECK_FALSE(commands.find("lesson-answer-1")->is_enabled());
  lesson.open(kTrie);
  CHECK_FALSE(commands.find("lesson-back")->is_enabled());
  CHECK_FALSE(commands.find("lesson-show-me")->is_enabled());
  run("lesson-next");
  CHECK(lesson.step() == 1);
  CHECK(commands.find("lesson-answer-3")->is_enabled());
  CHECK_FALSE(commands.find("lesson-answer-4")->is_enabled());
  run("lesson-answer-3");
  CHECK(lesson.given(2)->choice == 2);
  CHECK_FALSE(commands.find("lesson-answer-3")->is_enabled());
  run("lesson-back");
  CHECK(lesson.step() == 0);
  play();
  const auto& text = std::get<lessons::Block>(lesson.shown_step().pieces[1]);
  const auto link = std::find_if(text.spans.begin(), text.spans.end(),
                                 [](const lessons::Span& span) { return span.link != nullptr; });
  REQUIRE(link != text.spans.end());
  CHECK(lesson.node_of(*link->link) == 1);
  CHECK(lesson.text_of(*link->expression) == "'·small'");
  lesson.follow(*link->link);
  CHECK(play() == "lock 1\n");
  run("lesson-close");
  CHECK_FALSE(lesson.is_open());
}

TEST_CASE_FIXTURE(Class,
                  "lesson: a link to a step shows it when it is done, to a phase just after it") {
  lesson.open(kTrie);
  play();
  const auto follow = [&](const char* text) {
    lessons::Link link;
    link.kind = lessons::Link::Kind::kStep;
    link.target = lessons::parse_filled(text);
    lesson.follow(link);
    return play();
  };
  CHECK(follow("3") == "cursor 4 draft\n");
  CHECK(follow("3/accept") == "cursor 3 commit\n");
  CHECK(follow("{1 + 2}/observe") == "cursor 4 draft\n");
}

TEST_CASE_FIXTURE(Class, "lesson: another capture of its folder stands beside the run for a step") {
  lesson.open("13-debug-your-own-decoder");
  REQUIRE(lesson.ready());
  Document* const own = lesson.document();
  while (lesson.shown_step().title != "The mended run beside it") lesson.go_to(lesson.step() + 1);
  CHECK(play() == "range all\nlock -1\ncursor 3\ncompare 1\npanel mask\npanel text\n");
  REQUIRE(workspace.comparison.partner());
  CHECK(workspace.comparison.partner()->path.ends_with("/mended-mask.tscap"));
  CHECK(workspace.active() == own);
  CHECK(lesson.document() == own);
  lesson.show_again();  // it is not opened twice
  play();
  CHECK(workspace.documents.all().size() == 2);
  lesson.go_to(lesson.step() + 1);
  play();
  CHECK_FALSE(workspace.comparison.is_on());
  CHECK(workspace.active() == own);
}

TEST_CASE_FIXTURE(Class, "lesson: values are written as panels write them") {
  CHECK(shown_value(49152.0) == "49,152");
  CHECK(shown_value(-1234567.0) == "-1,234,567");
  CHECK(shown_value(4096.0) == "4096");
  CHECK(shown_value(0.41253) == "0.413");
  CHECK(shown_value(-3.29531) == "-3.295");
  CHECK(shown_value(std::string(" the")) == "'·the'");
  CHECK(shown_value(std::string(" small town")) == " small town");
}

TEST_CASE_FIXTURE(Class, "lesson: one that is not there changes nothing") {
  CHECK_THROWS_AS(lesson.open("no-such-lesson"), Error);
  CHECK_FALSE(lesson.is_open());
  workspace.open_lesson("no-such-lesson");
  REQUIRE(workspace.log.problems.size() == 1);
  CHECK(workspace.log.problems[0].starts_with("there is no lesson 'no-such-lesson'"));
  CHECK(workspace.preferences.run_bar_open);
  CHECK(workspace.state_json({})["lesson"].is_null());
}

TEST_CASE_FIXTURE(Class, "lesson: every one of the program can be played to its end") {
  std::vector<std::string> problems;
  for (const LibraryLesson& one : library_lessons(problems)) {
    CAPTURE(one.id);
    lesson.open(one.file);
    for (std::size_t step = 0; step < lesson.steps(); ++step) {
      lesson.go_to(step);
      play();
      while (const auto question = lesson.open_question()) {
        lesson.answer(*question, {});
        play();
      }
      while (const auto task = lesson.open_task()) {
        lesson.show_me(*task);
        play();
        CHECK(lesson.notice([&] {
          std::vector<std::string> shown;
          for (const auto& panel : workspace.active()->panels) shown.push_back(panel->info().name);
          return shown;
        }()));
      }
    }
    CHECK(lesson.at_the_end());
  }
  CHECK(problems.empty());
  CHECK(workspace.log.problems.empty());
  CHECK(workspace.preferences.finished_lessons.size() == 19);
}

TEST_CASE_FIXTURE(Class,
                  "lesson: how many questions were answered is known while it is half done") {
  CHECK(lesson.progress_of(kTrie) == nullptr);
  lesson.open(kTrie);
  const auto said = [&] {
    return answered_text(*lesson.progress_of(kTrie), lesson.lesson().lesson);
  };
  CHECK(said() == "");
  lesson.go_to(1);
  lesson.answer(*lesson.open_question(), {.choice = 0});
  CHECK(said() == "1 of 4 answered");
  for (std::size_t step = 0; step < lesson.steps(); ++step) {
    lesson.go_to(step);
    while (lesson.open_question()) lesson.answer(*lesson.open_question(), {});
  }
  CHECK(said() == "");  // all were done, so it has its tick
  CHECK(workspace.preferences.finished_lessons.count(kTrie) == 1);
  lesson.close();
  CHECK(lesson.progress_of(kTrie) != nullptr);
}

}  // namespace
}  // namespace triescope::app::test_lesson_player
