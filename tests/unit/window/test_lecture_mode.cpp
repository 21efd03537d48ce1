// Lecture mode without a window: its panels, its keys, what is lit, and that it leaves no trace.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "app/window/command_parts.h"
#include "app/window/commands.h"
#include "app/window/script.h"
#include "app/window/workspace/lecture_layout.h"
#include "core/base/error.h"
#include "core/base/words.h"
#include "tests/support/paths.h"

namespace triescope::app::test_lecture_mode {
namespace {

using Names = std::vector<std::string>;

std::string lesson_capture(const char* name) {
  return std::string(TRIESCOPE_TEST_SOURCE_DIR) + "/assets/lessons/" + name;
}

struct Hall {
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  CommandTable commands{workspace, ui};
  LectureMode& lecture = workspace.lecture;

  Document& open(const char* name = "beam.tscap") {
    workspace.documents.open(lesson_capture(name));
    REQUIRE(workspace.log.problems.empty());
    return *workspace.active();
  }
  // Presses a key as the window does. False: nothing has that key.
  bool press(const char* key) {
    const Chord chord = chord_from_string(key);
    const Command* const command =
        lecture.is_on() ? commands.find_in_lecture(chord) : commands.find(chord);
    if (!command || !command->is_enabled()) return false;
    command->run();
    return true;
  }
  void script(const std::string& verb, const std::string& argument) {
    Script one = Script::empty();
    one.append({verb, argument});
    ScriptHost host{workspace, ui, commands, {}, {}, {}};
    run_script_line(one, host);
  }
};

TEST_CASE_FIXTURE(Hall, "lecture: a key enters and leaves it, where there is a capture to show") {
  CHECK_FALSE(press("F8"));
  workspace.enter_lecture();
  CHECK_FALSE(lecture.is_on());
  CHECK(lecture.state_json().is_null());
  open();
  CHECK(press("F8"));
  CHECK(lecture.is_on());
  CHECK(commands.find("lecture")->checked());
  CHECK(lecture.panels() == Names{"trie", "text"});
  CHECK(press("F8"));
  CHECK_FALSE(lecture.is_on());
}

TEST_CASE_FIXTURE(Hall,
                  "lecture: the window's layout, panels and theme are as before when it is left") {
  Document& document = open();
  workspace.use_layout("memory");
  document.panel("mask")->set_view_state("order=slot");
  workspace.preferences.theme = viz::ThemeName::kLight;
  workspace.preferences.user_scale = 1.25f;
  const nlohmann::json before = workspace.state_json({});
  press("F8");
  workspace.show_panels({"mask", "kv", "text"});
  CHECK(lecture.panels() == Names{"mask", "kv"});
  CHECK(workspace.show_panel("positions"));
  CHECK(lecture.panels() == Names{"mask", "positions"});
  CHECK(&lecture.panel("mask", document) != document.panel("mask"));
  CHECK(lecture.panel("mask", document).view_state() == "order=path");
  lecture.panel("trie", document).set_view_state("zoom=2");
  press("Ctrl+=");
  press("Ctrl+T");
  press("S");
  press("N");
  press("F8");
  CHECK(workspace.state_json({}) == before);
}

TEST_CASE_FIXTURE(Hall, "lecture: every key of a presenter or a clicker goes one cursor position") {
  Document& document = open();
  workspace.transport.go_to_start();
  press("F8");
  capture::Tick cursor = 0;
  for (const char* key : {"Space", "PageDown", "Right", "Down", "Enter"}) {
    CAPTURE(key);
    CHECK(press(key));
    CHECK(document.cursor == ++cursor);
  }
  for (const char* key : {"PageUp", "Left", "Up", "Backspace"}) {
    CAPTURE(key);
    CHECK(press(key));
    CHECK(document.cursor == --cursor);
  }
  CHECK(press("F10"));  // a whole step
  CHECK(document.cursor == capture::make_tick(1, capture::Phase::kDraft));
  CHECK(press("End"));
  CHECK(document.cursor == document.capture->end_tick());
  CHECK(press("Space"));
  CHECK(document.cursor == document.capture->end_tick());
  CHECK(press("Home"));
  CHECK(document.cursor == 0);
}

TEST_CASE_FIXTURE(Hall, "lecture: what would show another thing has no key in it") {
  open();
  press("F8");
  for (const char* key : {"F5", "Shift+F5", "F9", "F2", "F3", "Ctrl+1", "Ctrl+O", "Ctrl+W",
                          "Ctrl+M", "Ctrl+U", "Ctrl+I", "Ctrl+Shift+P", "W", "A", "D", "Z", ","}) {
    CAPTURE(key);
    CHECK_FALSE(press(key));
  }
  CHECK(ui.dialog == Dialog::kNone);
  CHECK(press("F1"));
  CHECK(ui.dialog == Dialog::kKeys);
  for (const Command& command : commands.all())
    for (const Chord chord : command.lecture_chords) {
      CAPTURE(to_string(chord));
      CHECK(commands.find_in_lecture(chord) == &command);  // no key twice
      CHECK_FALSE(has_keys_in_lecture(command));           // none has two ways
    }
}

TEST_CASE_FIXTURE(Hall,
                  "lecture: B and the full stop blank the screen, any of its keys brings it back") {
  Document& document = open();
  workspace.transport.go_to_start();
  press("F8");
  for (const char* blank : {"B", "."})
    for (const char* back : {"B", ".", "Space", "PageDown", "PageUp", "Left", "Right"}) {
      CAPTURE(back);
      press(blank);
      REQUIRE(lecture.is_blank());
      press(back);
      CHECK_FALSE(lecture.is_blank());
      CHECK(document.cursor == 0);
    }
  press("B");
  lecture.escape();
  CHECK_FALSE(lecture.is_blank());
  CHECK(lecture.is_on());
}

TEST_CASE_FIXTURE(Hall, "lecture: Escape ends the innermost thing first") {
  open();
  press("F8");
  press("S");
  press("B");
  lecture.escape();
  CHECK_FALSE(lecture.is_blank());
  CHECK(lecture.has_spotlight());
  lecture.escape();
  CHECK_FALSE(lecture.has_spotlight());
  CHECK(lecture.is_on());
  lecture.escape();
  CHECK_FALSE(lecture.is_on());
}

TEST_CASE_FIXTURE(Hall, "lecture: the spotlight grows and shrinks within limits") {
  open();
  press("F8");
  CHECK_FALSE(lecture.has_spotlight());
  press("S");
  CHECK(lecture.has_spotlight());
  CHECK(lecture.spotlight_radius() == doctest::Approx(0.2f));
  lecture.resize_spotlight(1);
  CHECK(lecture.spotlight_radius() == doctest::Approx(0.224f));
  lecture.resize_spotlight(-2);
  CHECK(lecture.spotlight_radius() == doctest::Approx(0.2f / 1.12f));
  lecture.resize_spotlight(-100);
  CHECK(lecture.spotlight_radius() == doctest::Approx(0.05f));
  lecture.resize_spotlight(100);
  CHECK(lecture.spotlight_radius() == doctest::Approx(0.6f));
  press("S");
  CHECK_FALSE(lecture.has_spotlight());
}

TEST_CASE_FIXTURE(Hall,
                  "lecture: digits show a panel as the second one, or take it away; Tab goes on") {
  open();
  press("F8");
  CHECK(press("3"));
  CHECK(lecture.panels() == Names{"trie", "mask"});
  press("1");
  CHECK(lecture.panels() == Names{"mask"});
  press("3");  // the only one stays
  CHECK(lecture.panels() == Names{"mask"});
  press("4");
  CHECK(lecture.panels() == Names{"mask", "kv"});
  for (int i = 1; i <= 9; ++i) {
    lecture.set_panels({"trie"});
    CHECK(press(std::to_string(i).c_str()));
    const std::string& panel = lecture_panels()[static_cast<std::size_t>(i - 1)];
    CHECK(lecture.panels() == (panel == "trie" ? Names{"trie"} : Names{"trie", panel}));
  }
  const auto all = lecture_arrangements(*workspace.active()->capture);
  lecture.set_panels({"log"});
  for (std::size_t i = 0; i <= all.size(); ++i) {
    CHECK(press("Tab"));
    CHECK(lecture.panels() == all[i % all.size()]);
  }
  lecture.set_panels({"narration"});  // has its own place already
  CHECK(lecture.panels() == all.front());
  lecture.set_panels({"mask", "mask"});
  CHECK(lecture.panels() == Names{"mask"});
  CHECK_THROWS_AS(lecture.set_panels({"maks"}), Error);
  CHECK(lecture.panels() == Names{"mask"});
}

TEST_CASE_FIXTURE(
    Hall, "lecture: two compared runs stay compared, one panel of each, and step together") {
  Document& right = open("lookup.tscap");
  Document& left = open("beam.tscap");
  workspace.comparison.start(&right);
  workspace.transport.go_to_start();
  workspace.comparison.sync();
  const nlohmann::json before = workspace.state_json({});
  press("F8");
  CHECK(workspace.comparison.partner() == &right);
  CHECK(lecture.panels() == Names{"trie"});
  CHECK(lecture.state_json()["compared_with"] == right.title);
  press("3");
  CHECK(lecture.panels() == Names{"mask"});
  press("3");  // the only one stays
  CHECK(lecture.panels() == Names{"mask"});
  Names gone_through;
  for (int i = 0; i < 8; ++i) {
    press("Tab");
    REQUIRE(lecture.panels().size() == 1);
    gone_through.push_back(lecture.panels().front());
  }
  CHECK(std::ranges::count(gone_through, "verdict") > 0);
  lecture.set_panels({"trie", "text"});
  CHECK(lecture.panels() == Names{"trie"});
  CHECK(&lecture.panel("trie", left) != &lecture.panel("trie", right));
  CHECK(&lecture.panel("trie", left) == &lecture.panel("trie", left));
  // The clicker moves the run in front, and the comparison's alignment moves the other one.
  for (int i = 0; i < 12; ++i) {
    press("PageDown");
    workspace.comparison.sync();
    CHECK(right.cursor == viz::matching_tick(*left.capture, left.cursor, *right.capture,
                                             workspace.comparison.along()));
    CHECK(lecture.lit_from(left) == left.cursor - 1);
    CHECK(lecture.lit_from(right) < std::max<capture::Tick>(1, right.cursor));
  }
  CHECK(right.cursor > 0);
  workspace.transport.go_to_start();
  workspace.comparison.sync();
  press("F8");
  CHECK(workspace.state_json({})["compare"] == before["compare"]);
  CHECK(workspace.state_json({})["panes"] == before["panes"]);
  // With only one run there are two panels again.
  workspace.comparison.stop();
  press("F8");
  CHECK(lecture.panels() == Names{"trie", "text"});
  CHECK(lecture.state_json()["compared_with"].is_null());
}

TEST_CASE_FIXTURE(Hall, "lecture: in a lesson it begins with the panels that the step asked for") {
  workspace.open_lesson(lesson_capture("08-checking-a-tree.md"));
  REQUIRE(workspace.lesson.is_open());
  REQUIRE(workspace.active());
  for (std::size_t step = 0; step < workspace.lesson.steps(); ++step) {
    CAPTURE(step);
    workspace.lesson.go_to(step);
    Names asked;
    for (const ScriptCommand& line : workspace.lesson.take_commands()) {
      script(line.verb, line.argument);
      if (line.verb == "panels") asked = words(line.argument);
    }
    if (asked.empty()) continue;
    std::erase(asked, "narration");
    if (asked.size() > 2) asked.resize(2);
    press("F8");
    CHECK(lecture.panels() == asked);
    press("F8");
  }
}

TEST_CASE_FIXTURE(Hall, "lecture: its theme is its own, at first the projector's") {
  open();
  CHECK(workspace.theme() == viz::ThemeName::kDark);
  press("F8");
  CHECK(workspace.theme() == viz::ThemeName::kProjector);
  CHECK(workspace.state_json({})["theme"] == "projector");
  script("set-theme", "dark");
  CHECK(workspace.preferences.lecture_theme == viz::ThemeName::kDark);
  press("F8");
  CHECK(workspace.theme() == viz::ThemeName::kDark);
  press("Ctrl+Shift+T");
  CHECK(workspace.theme() == viz::ThemeName::kProjector);
  CHECK(commands.find("projector-theme")->checked());
  press("Ctrl+Shift+T");
  CHECK(workspace.theme() == viz::ThemeName::kDark);
  press("Ctrl+T");
  CHECK(workspace.theme() == viz::ThemeName::kLight);
  CHECK(workspace.preferences.lecture_theme == viz::ThemeName::kDark);
  CHECK_THROWS_AS(script("set-theme", "red"), Error);
}

TEST_CASE_FIXTURE(Hall, "lecture: letters grow to twice their size, never below the first") {
  open();
  press("F8");
  press("Ctrl+=");
  CHECK(lecture.scale() == doctest::Approx(1.1f));
  CHECK(workspace.preferences.user_scale == 1);
  press("Ctrl+0");
  CHECK(lecture.scale() == 1);
  press("Ctrl+-");
  CHECK(lecture.scale() == 1);
  lecture.set_scale(9);
  CHECK(lecture.scale() == 2);
}

TEST_CASE_FIXTURE(
    Hall, "lecture: what changed since the position before is lit; after a jump, the last phase") {
  Document& document = open();
  workspace.transport.go_to_start();
  press("F8");
  CHECK(lecture.lit_from(document) == 0);
  press("Space");
  CHECK(lecture.lit_from(document) == 0);
  press("Space");
  CHECK(lecture.lit_from(document) == 1);
  CHECK(lecture.lit_from(document) == 1);  // the same in every frame
  press("F10");                            // from position 2 to 5
  CHECK(lecture.lit_from(document) == 2);
  press("F10");
  CHECK(lecture.lit_from(document) == 5);
  press("PageUp");
  CHECK(document.cursor == 9);
  CHECK(lecture.lit_from(document) == 8);
  workspace.documents.set_cursor(30);
  CHECK(lecture.lit_from(document) == 29);
  Document& other = open("lookup.tscap");
  other.cursor = 31;
  CHECK(lecture.lit_from(other) == 30);  // not since the other run's position
}

TEST_CASE_FIXTURE(Hall,
                  "lecture: the presenter view comes and goes; its time begins with the lecture") {
  open();
  workspace.update(100);
  CHECK(lecture.seconds_to_tick() < 0);
  commands.find("presenter-view")->run();  // enters lecture mode too
  CHECK(lecture.is_on());
  CHECK(lecture.has_presenter_view());
  CHECK(lecture.elapsed() == 0);
  workspace.update(165.25);
  CHECK(lecture.elapsed() == doctest::Approx(65.25));
  CHECK(lecture.seconds_to_tick() == doctest::Approx(0.75));
  press("R");
  CHECK(lecture.elapsed() == 0);
  press("N");
  CHECK_FALSE(lecture.has_presenter_view());
  CHECK(lecture.is_on());
  press("N");
  CHECK(lecture.has_presenter_view());
  press("F8");
  CHECK_FALSE(lecture.has_presenter_view());
  press("F8");
  CHECK_FALSE(lecture.has_presenter_view());
}

TEST_CASE_FIXTURE(Hall, "lecture: scripts choose the panels, and are refused where they cannot") {
  open();
  CHECK_THROWS_WITH_AS(script("lecture-panels", "mask"),
                       "command line: lecture mode is off: put 'lecture' before", Error);
  script("lecture", "");
  script("lecture-panels", "mask kv");
  CHECK(lecture.panels() == Names{"mask", "kv"});
  CHECK_THROWS_WITH_AS(script("lecture-panels", "mask kv text"),
                       "command line: lecture-panels: expected one or two; found mask kv text",
                       Error);
  CHECK_THROWS_AS(script("lecture-panels", "maks"), Error);
  CHECK_THROWS_AS(script("lecture-panels", ""), Error);
  script("panel", "text");
  CHECK(lecture.panels() == Names{"mask", "text"});
  const nlohmann::json state = workspace.state_json({})["lecture"];
  CHECK(state["panels"] == Names{"mask", "text"});
  CHECK(state["blank"] == false);
  CHECK(state["presenter_view"] == false);
}

TEST_CASE_FIXTURE(Hall, "lecture: a lesson arranges what the audience sees, and its keys work") {
  workspace.open_lesson(lesson_capture("03-beam-search-is-a-trie.md"));
  REQUIRE(workspace.lesson.is_open());
  REQUIRE(workspace.active());
  const nlohmann::json panes = layout_to_json(workspace.layouts.now);
  press("F8");
  for (const ScriptCommand& line : workspace.lesson.take_commands())
    script(line.verb, line.argument);
  CHECK(lecture.panels() == Names{"trie", "candidates"});
  CHECK(layout_to_json(workspace.layouts.now) == panes);
  CHECK(press("Ctrl+PageDown"));
  CHECK(workspace.lesson.step() == 1);
  CHECK(press("Ctrl+PageUp"));
  CHECK(workspace.lesson.step() == 0);
  CHECK(commands.find_in_lecture(chord_from_string("Alt+S")) == commands.find("lesson-show-me"));
}

TEST_CASE_FIXTURE(Hall, "lecture: closing what it shows takes its panels along") {
  Document& document = open();
  press("F8");
  viz::Panel* const first = &lecture.panel("trie", document);
  CHECK(&lecture.panel("trie", document) == first);
  CHECK(lecture.panel("text", document).info().name == "text");
  Document& other = open("lookup.tscap");
  CHECK(lecture.panel("trie", other).info().name == "trie");
  workspace.run.close(&other);
  CHECK(workspace.active() == &document);
  CHECK(lecture.is_on());
}

}  // namespace
}  // namespace triescope::app::test_lecture_mode
