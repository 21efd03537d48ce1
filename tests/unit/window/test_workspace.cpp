// The workspace without a window: open captures, ranges, the command table over them.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "app/session/loaded_model.h"
#include "app/window/commands.h"
#include "app/window/compare/compare_rows.h"
#include "core/base/error.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app::test_workspace {
namespace {

using Range = std::optional<std::pair<std::int32_t, std::int32_t>>;

struct Desk {
  test::TempDir folder;
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  CommandTable commands{workspace, ui};

  // Records and opens a greedy run of 6 tokens after `prompt`.
  Document& open_run(const std::string& name, std::vector<std::int32_t> prompt) {
    LoadedModel loaded;
    loaded.load(write_tiny_model(folder.path(), "tiny"), {.threads = 1}, {}, {});
    const std::string path = (folder.path() / (name + ".tscap")).string();
    RunConfig config;
    config.method = "greedy";
    config.settings = {{"eos_token_id", {-1}}};
    config.prompt_tokens = std::move(prompt);
    config.max_new_tokens = 6;
    {
      const auto recorder = capture::open_recorder(path);
      Session(*loaded.model, *loaded.tokenizer, std::move(config), *recorder).run();
    }
    workspace.documents.open(path);
    REQUIRE(workspace.log.problems.empty());
    return *workspace.active();
  }
};

TEST_CASE_FIXTURE(
    Desk,
    "workspace: captures that were opened are remembered once each, newest first, ten at most") {
  const std::string left = open_run("left", {1, 2}).path, right = open_run("right", {3}).path;
  auto& recent = workspace.preferences.recent_captures;
  REQUIRE(recent.size() == 2);
  CHECK(recent[0].path == right);
  CHECK(recent[1].path == left);
  CHECK(recent[0].method == "Greedy decoding");
  CHECK(recent[0].recorded.size() == std::string("2026-01-02 03:04").size());
  CHECK(recent[0].recorded[10] == ' ');
  workspace.documents.open(left);
  REQUIRE(recent.size() == 2);
  CHECK(recent[0].path == left);
  workspace.documents.save_as((folder.path() / "copy.tscap").string());
  CHECK(recent[0].path == (folder.path() / "copy.tscap").string());
  workspace.documents.open((folder.path() / "missing.tscap").string());
  CHECK(recent.size() == 3);
  for (int i = 0; i < 12; ++i)
    remember_capture(workspace.preferences.recent_captures, {std::to_string(i), "Greedy", "", ""});
  REQUIRE(recent.size() == 10);
  CHECK(recent[0].path == "11");
  CHECK(recent[9].path == "2");
}

TEST_CASE_FIXTURE(
    Desk, "workspace: every kind of breakpoint has a command, which asks for one of its kind") {
  for (const BreakKind kind : all_break_kinds()) {
    std::string id = std::string("break-") + script_name(kind);
    std::ranges::replace(id, '_', '-');
    CAPTURE(id);
    const Command* const command = commands.find(id);
    REQUIRE(command);
    CHECK(command->title.find(break_words(kind)) != std::string::npos);
    ui.dialog = Dialog::kNone;
    command->run();
    CHECK(ui.dialog == Dialog::kBreakpoints);
    CHECK(ui.dialogs.breakpoints.add == kind);
  }
  CHECK(break_words(BreakKind::kText) == "a token's text holds");
  CHECK(break_words(BreakKind::kRejection) == describe({BreakKind::kRejection, 0, true}));
}

TEST_CASE_FIXTURE(
    Desk,
    "workspace: panel commands go to the panel under the mouse, else to the one it was over last") {
  open_run("run", {1, 2});
  const std::pair<const char*, bool PanelKeys::*> rows[] = {
      {"fit", &PanelKeys::fit},
      {"zoom-in", &PanelKeys::zoom_in},
      {"zoom-out", &PanelKeys::zoom_out},
      {"pan-left", &PanelKeys::pan_left},
      {"pan-right", &PanelKeys::pan_right},
      {"fold", &PanelKeys::fold},
      {"previous-neighbour", &PanelKeys::previous},
      {"next-neighbour", &PanelKeys::next}};
  for (const auto& [id, key] : rows) {
    CAPTURE(id);
    ui.panel_keys = {};
    ui.hovered_panel = "mask";
    ui.last_panel = "mask";
    commands.find(id)->run();
    CHECK(ui.panel_keys.*key);
    CHECK(ui.panel_keys.panel == "");
    ui.hovered_panel.clear();
    commands.find(id)->run();
    CHECK(ui.panel_keys.panel == "mask");
  }
}

TEST_CASE_FIXTURE(Desk, "workspace: the differences of two runs are gone to one after the other") {
  Document& left = open_run("left", {1, 2});
  CHECK_FALSE(workspace.comparison.go_to_difference());
  Document& right = open_run("right", {3});
  workspace.documents.activate(&left);
  workspace.comparison.start(&right);
  workspace.comparison.sync();
  const auto partings = left.twins.partings;
  REQUIRE(partings.size() == right.twins.partings.size());
  REQUIRE_FALSE(partings.empty());
  CHECK(workspace.comparison.go_to_difference());
  for (std::size_t i = 0; i < partings.size(); ++i) {
    CHECK(left.focus.locked == partings[i]);
    CHECK(right.focus.locked == right.twins.partings[i]);
    CHECK(workspace.comparison.go_to_next_difference() == (i + 1 < partings.size()));
  }
  // Without a lock the next difference is the one behind the cursor.
  left.focus.locked = -1;
  workspace.documents.set_cursor(0);
  CHECK(workspace.comparison.go_to_next_difference());
  CHECK(left.focus.locked == partings.front());
}

TEST_CASE_FIXTURE(Desk, "workspace: the first difference is shown where both runs have said it") {
  Document& left = open_run("left", {1, 2});
  Document& right = open_run("right", {3});
  workspace.documents.activate(&left);
  workspace.comparison.start(&right);
  for (const viz::Along along : viz::all_alongs()) {
    CAPTURE(viz::to_string(along));
    workspace.comparison.set_along(along);
    workspace.documents.set_cursor(0);
    workspace.comparison.sync();
    REQUIRE(workspace.comparison.go_to_difference());
    workspace.comparison.sync();
    for (const Document* document : {&left, &right}) {
      const auto node = static_cast<std::size_t>(document->twins.parting_node);
      CHECK(document->capture->nodes()[node].tick < document->cursor);
    }
  }
}

// Updates the workspace until nothing is under way.
void settle(Workspace& workspace) {
  for (int i = 0; i < 60'000 && (!workspace.idle() || workspace.run.measuring()); ++i) {
    workspace.update(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  workspace.update(0);
  REQUIRE(workspace.idle());
  REQUIRE_FALSE(workspace.run.measuring());
}

TEST_CASE_FIXTURE(
    Desk,
    "workspace: a run of the window is marked as timed while drawing, and measured again it is not, with the same text beside it") {
  RunRequest& request = workspace.request();
  request.model = write_tiny_model(folder.path(), "tiny");
  request.method = "greedy";
  request.settings = {{"eos_token_id", {-1}}};
  request.prompt = "1, 2, 3";
  request.prompt_is_ids = true;
  request.max_new_tokens = 6;
  CHECK_FALSE(commands.find("measure-again")->is_enabled());
  workspace.run.start(/*run_at_once=*/true);
  settle(workspace);
  REQUIRE(workspace.log.problems.empty());
  Document* const shown = workspace.active();
  CHECK(shown->capture->run().timed_while_drawing);
  CHECK(workspace.state_json({})["timed_while_drawing"] == true);

  // Breakpoints do not stop a run that is measured, because nobody watches it.
  workspace.run.set_breakpoints({{BreakKind::kStep, 2, true}});
  REQUIRE(commands.find("measure-again")->is_enabled());
  commands.find("measure-again")->run();
  CHECK(workspace.run.measuring());
  CHECK_FALSE(commands.find("measure-again")->is_enabled());
  settle(workspace);
  CHECK(workspace.log.problems.empty());
  REQUIRE(workspace.comparison.partner());
  CHECK(workspace.active() == shown);
  const capture::Capture& again = *workspace.comparison.partner()->capture;
  CHECK_FALSE(again.run().timed_while_drawing);
  CHECK(again.status() == capture::RunStatus::kDone);
  REQUIRE_FALSE(again.sequences().empty());
  CHECK(again.sequences().front().tokens == shown->capture->sequences().front().tokens);
  CHECK(shown->cursor == shown->capture->end_tick());

  // A branch begins with a chosen token that no request holds.
  workspace.documents.activate(workspace.documents.live());
  workspace.run.branch(2, 5);
  settle(workspace);
  CHECK(workspace.active()->capture->run().timed_while_drawing);
  CHECK_FALSE(commands.find("measure-again")->is_enabled());
}

TEST_CASE_FIXTURE(Desk, "workspace: a file is measured again as well, and a refusal is told") {
  Document& file = open_run("file", {1, 2, 3});
  CHECK_FALSE(file.capture->run().timed_while_drawing);
  std::filesystem::remove_all(folder.path() / "tiny");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".gguf") std::filesystem::remove(entry.path());
  workspace.measure_again();
  settle(workspace);
  CHECK(workspace.log.problems.size() == 1);
  CHECK(workspace.active() == &file);
  CHECK_FALSE(workspace.comparison.partner());
}

TEST_CASE_FIXTURE(
    Desk, "workspace: runs to compare with are told by what is not the same in all of them") {
  Document& shown = open_run("shown", {1, 2});
  open_run("same", {1, 2});
  open_run("other", {3});
  workspace.documents.activate(&shown);
  const auto rows = compare_rows(workspace);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].title.find("same.tscap") != std::string::npos);
  CHECK(rows[1].title.find("other.tscap") != std::string::npos);
  CHECK(rows[0].document != &shown);
}

TEST_CASE_FIXTURE(Desk, "workspace: a range is of one run, and of both while two are compared") {
  Document& left = open_run("left", {1, 2});
  Document& right = open_run("right", {3});
  Document& third = open_run("third", {4});
  workspace.comparison.set_range_of(left, {{1, 3}});
  CHECK(left.range == Range{{1, 3}});
  CHECK_FALSE(right.range);

  workspace.documents.activate(&left);
  workspace.comparison.start(&right);
  CHECK(right.range == Range{{1, 3}});  // figures are compared over the same steps
  workspace.comparison.set_range_of(right, {{2, 4}});
  CHECK(left.range == Range{{2, 4}});
  CHECK(right.range == Range{{2, 4}});
  workspace.comparison.set_range_of(left, {{0, 1}});
  CHECK(left.range == Range{{0, 1}});
  CHECK(right.range == Range{{0, 1}});
  CHECK_FALSE(third.range);
  CHECK(workspace.state_json({})["compare"]["range"] == nlohmann::json{0, 1});

  commands.find("clear-range")->run();
  CHECK_FALSE(left.range);
  CHECK_FALSE(right.range);
  CHECK(workspace.state_json({})["compare"]["range"].is_null());
  workspace.comparison.stop();
  workspace.comparison.set_range_of(left, {{1, 2}});
  CHECK_FALSE(right.range);
}

TEST_CASE_FIXTURE(Desk, "workspace: a range begins and ends at the cursor's step, by commands") {
  Document& document = open_run("one", {1, 2});
  const auto run = [&](const char* id, std::int32_t step) {
    workspace.documents.set_cursor(capture::make_tick(step + 1, capture::Phase::kDraft));
    commands.find(id)->run();
    return document.range;
  };
  const std::int32_t last = document.capture->last_step();
  CHECK(run("range-from", 2) == Range({2, last}));
  CHECK(run("range-to", 4) == Range({2, 4}));
  CHECK(run("range-from", 3) == Range({3, 4}));
  CHECK(run("range-to", 1) == Range({0, 1}));
  CHECK(run("range-from", 2) == Range({2, last}));
  workspace.documents.set_cursor(0);
  commands.find("range-to")->run();
  CHECK(document.range == Range({0, 0}));
}

TEST_CASE_FIXTURE(Desk, "workspace: the run bar takes over the run that is shown") {
  CHECK_FALSE(workspace.run.can_take_run());
  const Document& document = open_run("one", {1, 2});
  workspace.request().method = "beam";
  workspace.request().settings = {{"num_beams", 9}};
  workspace.request().seed = 7;
  REQUIRE(workspace.run.can_take_run());
  commands.find("take-run")->run();
  CHECK(workspace.log.problems.empty());
  const RunRequest& taken = workspace.request();
  CHECK(taken.method == "greedy");
  CHECK(taken.settings == nlohmann::json{{"eos_token_id", {-1}}});  // defaults are left out
  CHECK(taken.max_new_tokens == 6);
  CHECK(taken.seed == 0);
  CHECK(taken.device == "cpu");
  CHECK(taken.dtype == DType::kF32);
  CHECK(taken.model == (folder.path() / "tiny.gguf").string());
  CHECK(taken.draft_model.empty());
  CHECK_FALSE(workspace.run.can_take_run());  // the request holds that run already
  workspace.request().max_new_tokens = 5;
  CHECK(workspace.run.can_take_run());
  workspace.run.take_run();
  CHECK(workspace.request().max_new_tokens == 6);
  CHECK(document.capture->run().prompt_tokens == std::vector<std::int32_t>{1, 2});
}

TEST_CASE_FIXTURE(
    Desk, "workspace: a step is possible until the capture's end, or where a run can be started") {
  CHECK(workspace.transport.can_step());
  Document& document = open_run("one", {1});
  CHECK(document.cursor == document.capture->end_tick());
  CHECK_FALSE(workspace.transport.can_step());
  CHECK_FALSE(commands.find("step")->is_enabled());
  CHECK_FALSE(commands.find("step-phase")->is_enabled());
  workspace.transport.back();
  CHECK(workspace.transport.can_step());
  CHECK(commands.find("step")->is_enabled());
  // Beside a second run, the run that is behind can still step.
  workspace.documents.follow();
  Document& other = open_run("two", {2});
  workspace.documents.activate(&document);
  workspace.comparison.start(&other);
  CHECK_FALSE(workspace.transport.can_step());
  other.cursor = 0;
  CHECK(workspace.transport.can_step());
}

TEST_CASE_FIXTURE(Desk, "workspace: Restart takes a capture from a file back to its start") {
  Document& document = open_run("one", {1});
  commands.find("restart")->run();
  CHECK(document.cursor == 0);
  CHECK(workspace.documents.all().size() == 1);
}

TEST_CASE_FIXTURE(Desk,
                  "workspace: breakpoints that cannot be hit are refused, and those before stay") {
  workspace.run.set_breakpoints({{BreakKind::kStep, 3, true}, {BreakKind::kStep, 5, false}});
  CHECK_THROWS_AS(workspace.run.set_breakpoints({{BreakKind::kPattern, 0, true, "("}}), Error);
  CHECK(workspace.run.breakpoints().size() == 2);
  Document& document = open_run("one", {1});
  document.breaks.push_back({4, "stopped"});
  const auto marks = workspace.transport.break_marks(document);
  REQUIRE(marks.size() == 2);  // the disabled one is not marked
  CHECK(marks[0].text == "stopped");
  CHECK(marks[0].hit);
  CHECK(marks[1].text == "step = 3");
  CHECK(marks[1].tick == capture::make_tick(4, capture::Phase::kDraft));
  CHECK_FALSE(marks[1].hit);
}

TEST_CASE_FIXTURE(Desk, "workspace: a branch is of the newest run of this window alone") {
  open_run("one", {1});
  workspace.run.branch(0, 3);
  REQUIRE(workspace.log.problems.size() == 1);
  CHECK(workspace.log.problems[0].find("only the newest run") == 0);
  CHECK(workspace.run.origin_text(*workspace.active()).empty());
  CHECK_FALSE(commands.find("compare-origin")->is_enabled());
  CHECK_THROWS_WITH_AS(workspace.run.branch_with(0, ""),
                       "what if: expected the text of a token, found none", Error);
  CHECK_THROWS_WITH_AS(workspace.run.branch_with(0, "x"), doctest::Contains("no model is loaded"),
                       Error);
}

TEST_CASE_FIXTURE(Desk, "workspace: the prompt is ids where that was asked for") {
  CHECK_FALSE(workspace.run.prompt_is_ids());
  workspace.request().prompt_is_ids = true;
  CHECK(workspace.run.prompt_is_ids());
  CHECK(workspace.state_json({})["run"]["prompt_is_ids"] == true);
}

TEST_CASE_FIXTURE(
    Desk,
    "workspace: every command has a name of its own, a title, a known menu, keys of its own") {
  std::set<std::string> ids, keys;
  std::vector<std::string> menus;
  for (const Command& command : commands.all()) {
    CAPTURE(command.id);
    CHECK(ids.insert(command.id).second);
    CHECK_FALSE(command.title.empty());
    CHECK(static_cast<bool>(command.run));
    CHECK(commands.find(command.id) == &command);
    const auto& known = menu_names();
    // These commands have no menu: a breakpoint of each kind (the menu has their list), the speeds
    // of playback (the menu has slower and faster), the search's own (it has a field), and those of
    // lecture mode, which has no menu.
    CHECK((command.id.starts_with("break-") || command.id.starts_with("play-speed-") ||
           command.id.starts_with("find-") || command.id.starts_with("lesson-answer-") ||
           command.id.starts_with("lecture-")) == command.menu.empty());
    CHECK((command.menu.empty() ||
           std::find(known.begin(), known.end(), command.menu) != known.end()));
    for (const Chord chord : command.chords) {
      CHECK(keys.insert(to_string(chord)).second);
      CHECK(commands.find(chord) == &command);
    }
  }
  CHECK(commands.all().size() == 137);
  CHECK(commands.find("no-such-command") == nullptr);
  CHECK(to_string(commands.find("layout-debug")->chords.front()) == "Ctrl+1");
  CHECK(to_string(commands.find("layout-compare")->chords.front()) == "Ctrl+4");
  CHECK(commands.find("layout-learn")->chords.empty());  // Ctrl+5 on are one's own
}

TEST_CASE_FIXTURE(Desk,
                  "workspace: a command is enabled where there is something for it to act on") {
  const auto enabled = [&](const char* id) { return commands.find(id)->is_enabled(); };
  for (const char* id :
       {"save-as", "export", "save-handout", "save-data", "close", "restart", "what-if", "back",
        "go-start", "bookmark", "release-focus", "compare-with"}) {
    CAPTURE(id);
    CHECK_FALSE(enabled(id));
  }
  for (const char* id : {"open", "start", "start-run", "run", "step", "palette"}) {
    CAPTURE(id);
    CHECK(enabled(id));
  }
  Document& document = open_run("one", {1});
  for (const char* id :
       {"save-as", "export", "save-handout", "save-data", "close", "restart", "what-if", "back",
        "go-start", "bookmark", "release-focus", "compare-with"}) {
    CAPTURE(id);
    CHECK(enabled(id));
  }
  CHECK_FALSE(enabled("clear-range"));
  workspace.comparison.set_range_of(document, {{1, 2}});
  CHECK(enabled("clear-range"));
  for (const char* id : {"go-difference", "compare-by-tokens", "run-to-cursor", "stop", "cancel"}) {
    CAPTURE(id);
    CHECK_FALSE(enabled(id));
  }
  open_run("two", {2});
  workspace.comparison.start(nullptr);
  CHECK(enabled("go-difference"));
  CHECK(commands.find("compare-by-tokens")->checked());
  CHECK_FALSE(commands.find("compare-by-time")->checked());
  commands.find("compare-by-time")->run();
  CHECK(workspace.comparison.along() == viz::Along::kTime);
  commands.find("go-start")->run();
  CHECK(workspace.active()->cursor == 0);
}

TEST_CASE_FIXTURE(Desk,
                  "workspace: playback stops at a breakpoint, says why, and goes on from there") {
  Document& run = open_run("run", {1, 2});
  workspace.run.set_breakpoints({{BreakKind::kStep, 2, true}});
  workspace.transport.go_to_start();
  commands.find("run")->run();
  double seconds = 0;
  const auto play = [&] {
    for (int i = 0; i < 40 && run.playing; ++i) workspace.update(seconds += 10);
  };
  play();
  CHECK_FALSE(run.playing);
  CHECK(run.cursor == capture::make_tick(3, capture::Phase::kDraft));
  CHECK(workspace.transport.stop_reason() == "step = 2: done");
  REQUIRE(run.breaks.size() == 1);
  CHECK(run.breaks[0].tick == run.cursor);
  // No breakpoint is left from here on, so it plays to the end, and then once more from the start.
  commands.find("run")->run();
  CHECK(workspace.transport.stop_reason().empty());
  play();
  CHECK(run.cursor == run.capture->end_tick());
  CHECK(workspace.transport.stop_reason().empty());
  commands.find("run")->run();
  play();
  CHECK(run.cursor == capture::make_tick(3, capture::Phase::kDraft));
  CHECK(run.breaks.size() == 1);
  workspace.transport.step();
  CHECK(workspace.transport.stop_reason().empty());
}

TEST_CASE_FIXTURE(
    Desk, "workspace: playback stops within a step, at the phase that a live run stops after") {
  Document& run = open_run("run", {1, 2});
  workspace.run.set_breakpoints({{BreakKind::kEntropyAbove, 0.01, true}});
  workspace.transport.go_to_start();
  workspace.transport.toggle_run();
  workspace.update(1);
  CHECK(run.cursor == capture::make_tick(0, capture::Phase::kAccept));
  CHECK(run.focus.locked == 0);
  CHECK(workspace.transport.stop_reason().find("entropy > 0.01 nats: ") == 0);
}

TEST_CASE_FIXTURE(
    Desk,
    "workspace: matches of a breakpoint are gone to forwards and backwards, with the reason") {
  Document& run = open_run("run", {1, 2});
  commands.find("next-match")->run();
  CHECK(workspace.log.all.back().text.find("no breakpoint is set") == 0);
  workspace.run.set_breakpoints({{BreakKind::kStep, 1, true}, {BreakKind::kStep, 4, true}});
  const auto at = [](std::int32_t step) {
    return capture::make_tick(step + 1, capture::Phase::kDraft);
  };
  commands.find("previous-match")->run();
  CHECK(run.cursor == at(4));
  CHECK(workspace.log.all.back().text == "step 4, observe: step = 4: done");
  CHECK(workspace.transport.stop_reason() == "step = 4: done");
  commands.find("previous-match")->run();
  CHECK(run.cursor == at(1));
  commands.find("previous-match")->run();
  CHECK(run.cursor == at(1));
  CHECK(workspace.log.all.back().text == "no breakpoint is hit before this place");
  commands.find("next-match")->run();
  CHECK(run.cursor == at(4));
  commands.find("next-match")->run();
  CHECK(run.cursor == at(4));
  CHECK(workspace.log.all.back().text ==
        "no breakpoint is hit from here to the end of what is recorded");
  workspace.run.set_breakpoints({{BreakKind::kStep, 1, false}});
  commands.find("previous-match")->run();
  CHECK(workspace.log.all.back().text.find("no breakpoint is set") == 0);
}

TEST_CASE_FIXTURE(
    Desk, "workspace: playback goes as fast as was asked for, now and after the next start") {
  Document& run = open_run("run", {1, 2});
  const auto steps_in = [&](double seconds) {
    workspace.transport.go_to_start();
    workspace.transport.toggle_run();
    for (double now = 0; now <= seconds && run.playing; now += 0.01) workspace.update(now);
    return capture::step_of(run.cursor);
  };
  CHECK(steps_in(1) == 3);  // one at once, then one every 0.45 s
  commands.find("play-speed-0.25")->run();
  CHECK(workspace.preferences.play_speed == 0.25);
  CHECK(steps_in(1) == 1);
  CHECK_FALSE(commands.find("play-slower")->is_enabled());
  for (const double speed : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    commands.find("play-faster")->run();
    CHECK(workspace.preferences.play_speed == speed);
  }
  CHECK_FALSE(commands.find("play-faster")->is_enabled());
  CHECK(steps_in(1) >= 5);
  CHECK(run.cursor == run.capture->end_tick());
  CHECK(workspace.log.all.back().text == "playback speed: 8×");
  workspace.transport.set_play_speed(100);
  CHECK(workspace.preferences.play_speed == 8);
  workspace.transport.set_play_speed(0);
  CHECK(workspace.preferences.play_speed == 0.25);
  workspace.transport.set_play_speed(1.9);
  CHECK(workspace.preferences.play_speed == 2);
}

TEST_CASE_FIXTURE(Desk, "workspace: a text file that is opened or dropped becomes the prompt") {
  const test::TempDir dir;
  const std::string path = dir.path() / "prompt.txt";
  std::ofstream(path) << "Once upon\na time";
  workspace.request().prompt_is_ids = true;
  workspace.open_path(path);
  CHECK(workspace.request().prompt == "Once upon\na time");
  CHECK_FALSE(workspace.request().prompt_is_ids);
  CHECK(workspace.log.problems.empty());
  workspace.open_path(dir.path() / "missing.txt");
  CHECK(workspace.request().prompt == "Once upon\na time");
  REQUIRE(workspace.log.problems.size() == 1);
  CHECK(workspace.log.problems[0].find("missing.txt") != std::string::npos);
}

TEST_CASE_FIXTURE(
    Desk, "workspace: a JSON file that is opened or dropped becomes the conversation of a chat") {
  const test::TempDir dir;
  const std::string path = dir.path() / "talk.json";
  std::ofstream(path) << R"([{"role": "system", "content": "s"}, {"role": "user", "content": "a"},
                             {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}])";
  workspace.request().prompt_is_ids = true;
  workspace.open_path(path);
  const RunRequest& request = workspace.request();
  CHECK(workspace.log.problems.empty());
  CHECK(request.chat);
  CHECK_FALSE(request.prompt_is_ids);
  CHECK(request.system == "s");
  CHECK(request.turns == std::vector<ChatMessage>{{"user", "a"}, {"assistant", "b"}});
  CHECK(request.prompt == "c");
  std::ofstream(path) << R"({"tools": [{"name": "add"}]})";
  workspace.open_path(path);
  CHECK(request.tools == R"([{"name":"add"}])");
  CHECK(request.prompt == "c");
  const std::string chat = dir.path() / "own.jinja";
  std::ofstream(chat) << "{{ messages }}";
  workspace.open_path(chat);
  CHECK(request.chat_template == "{{ messages }}");
  CHECK(request.chat_template_file == chat);
  std::ofstream(path) << R"({"role": "user"})";
  workspace.open_path(path);
  REQUIRE(workspace.log.problems.size() == 1);
  CHECK(workspace.log.problems[0].find("expected a list of messages") != std::string::npos);
  CHECK(request.prompt == "c");
}

TEST_CASE_FIXTURE(
    Desk, "workspace: an error about opening or exporting a file ends when the same succeeds") {
  const test::TempDir dir;
  const std::string text = dir.path() / "prompt.txt";
  std::ofstream(text) << "Once";
  const std::string missing = dir.path() / "missing.txt";
  workspace.open_path(missing);
  workspace.open_path(dir.path() / "missing.tscap");
  CHECK(workspace.log.problems.size() == 2);
  workspace.open_path(text);
  CHECK(workspace.log.problems.empty());
  // A model is loaded on another thread, so its error comes later.
  std::ofstream(dir.path() / "broken.gguf") << "no model";
  workspace.open_path(dir.path() / "broken.gguf");
  settle(workspace);
  CHECK(workspace.log.problems.size() == 1);
  workspace.open_path(write_tiny_model(folder.path(), "tiny"));
  settle(workspace);
  CHECK(workspace.log.problems.empty());

  open_run("run", {1, 2, 3});
  const auto export_to = [&](const std::string& path) {
    workspace.exports.start({.panel = "text", .path = path});
    settle(workspace);
  };
  workspace.open_path(missing);
  export_to(dir.path() / "no folder" / "text.svg");
  CHECK(workspace.log.problems.size() == 2);
  export_to(dir.path() / "text.svg");
  REQUIRE(workspace.log.problems.size() == 1);  // the other action's error stays
  CHECK(workspace.log.problems[0].find("missing.txt") != std::string::npos);
  CHECK(workspace.preferences.export_folder == dir.path().string());
  // Proposes a free name in the folder of the last export.
  CHECK(workspace.exports.picture_path("trie", ".svg") == (dir.path() / "trie.svg").string());
  CHECK(workspace.exports.picture_path("text", ".svg") == (dir.path() / "text-2.svg").string());
}

TEST_CASE_FIXTURE(
    Desk, "workspace: the status line's message is about the document shown, or about none") {
  Document& first = open_run("first", {1, 2, 3});
  Document& second = open_run("second", {1, 2, 4});
  const test::TempDir dir;
  workspace.documents.activate(&first);
  workspace.documents.save_as(dir.path() / "saved.tscap");
  CHECK(workspace.newest_message().find("saved.tscap") != std::string::npos);
  workspace.documents.activate(&second);
  CHECK(workspace.newest_message().find("saved.tscap") == std::string::npos);
  workspace.say(LogLevel::kInfo, "of no document");
  CHECK(workspace.newest_message() == "of no document");
  workspace.documents.activate(&first);
  CHECK(workspace.newest_message() == "of no document");
}

}  // namespace
}  // namespace triescope::app::test_workspace
