// Finds a text in a run: in its tokens, across them, in drafts; and goes from one match to the
// next.
#include "app/window/shell/find_in_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "app/window/commands.h"
#include "core/capture/writer.h"
#include "tests/unit/viz/captures.h"
#include "viz/text/token_text.h"

namespace triescope::app::test_find_in_run {
namespace {

// The prompt is "Now". Node 1 is " the"; below it are 2 " cat" and 3 " dog", and below those 4
// "fish" and 5 " the".
void record_with(capture::Recorder& out, const std::vector<capture::NodeRow>& more) {
  using namespace capture;
  RunInfo info;
  info.method = "greedy";
  info.settings_json = info.model_json = info.versions_json = "{}";
  info.prompt_tokens = {9};
  info.kv_policy = "recycle";
  out.write({.run = info,
             .pieces = {{9, "Now"}, {1, " the"}, {2, " cat"}, {3, " dog"}, {4, "fish"}},
             .nodes = {{.node = 0},
                       {.node = 1, .parent = 0, .token = 1, .depth = 1, .tick = 2},
                       {.node = 2, .parent = 1, .token = 2, .depth = 2, .tick = 5},
                       {.node = 3, .parent = 1, .token = 3, .depth = 2, .tick = 5},
                       {.node = 4, .parent = 2, .token = 4, .depth = 3, .tick = 10},
                       {.node = 5, .parent = 3, .token = 1, .depth = 3, .tick = 10}}});
  RowTables rows;
  rows.nodes = more;
  for (Tick tick = 0; tick < 15; ++tick) rows.phases.push_back({.tick = tick});
  out.write(rows);
  out.write({.finish = Finish{}});
}
void record_little(capture::Recorder& out) { record_with(out, {}); }

using Nodes = std::vector<std::int32_t>;

TEST_CASE("find: a token by a part of it, by case or without, and as panels write it") {
  const auto run = test::make_capture(record_little);
  const capture::Capture& capture = *run->capture;
  CHECK(nodes_with(capture, "the") == Nodes{1, 5});
  CHECK(nodes_with(capture, "THE") == Nodes{1, 5});
  CHECK(nodes_with(capture, "·the") == Nodes{1, 5});
  CHECK(nodes_with(capture, " the") == Nodes{1, 5});
  CHECK(nodes_with(capture, "fis") == Nodes{4});
  CHECK(nodes_with(capture, "") == Nodes{});
  CHECK(nodes_with(capture, "mouse") == Nodes{});
}

TEST_CASE("find: a text across tokens, on its own path alone, the prompt's end included") {
  const auto run = test::make_capture(record_little);
  const capture::Capture& capture = *run->capture;
  CHECK(nodes_with(capture, "the cat") == Nodes{2});
  CHECK(nodes_with(capture, "the catfish") == Nodes{4});
  CHECK(nodes_with(capture, "catfish") == Nodes{4});
  CHECK(nodes_with(capture, "dog the") == Nodes{5});
  CHECK(nodes_with(capture, "dogfish") == Nodes{});
  CHECK(nodes_with(capture, "now the") == Nodes{1});
  CHECK(nodes_with(capture, "now the cat") == Nodes{2});
  CHECK(nodes_with(capture, "the cat ") == Nodes{});
}

TEST_CASE("find: a probe is no match, whatever it carries; a text across it is none either") {
  const auto run = test::make_capture([](capture::Recorder& out) {
    record_with(out, {{.node = 6,
                       .parent = 1,
                       .token = 2,
                       .depth = 2,
                       .source = capture::Source::kDraft,
                       .tick = 14,
                       .role = capture::NodeRole::kProbe}});
  });
  CHECK(run->capture->nodes().size() == 7);
  CHECK(nodes_with(*run->capture, "cat") == Nodes{2});
  CHECK(nodes_with(*run->capture, "the cat") == Nodes{2});
}

TEST_CASE("find: the next and the one before, round the end") {
  const Nodes nodes = {3, 7, 9};
  CHECK(match_beside(nodes, -1, +1) == 0);
  CHECK(match_beside(nodes, 3, +1) == 1);
  CHECK(match_beside(nodes, 4, +1) == 1);
  CHECK(match_beside(nodes, 9, +1) == 0);
  CHECK(match_beside(nodes, 9, -1) == 1);
  CHECK(match_beside(nodes, 3, -1) == 2);
  CHECK(match_beside(nodes, 8, -1) == 1);
}

TEST_CASE("find: every node of a run is found by its own text, and by what its path reads") {
  for (const capture::Capture* const capture : {&test::beam_capture(), &test::draft_capture()})
    for (const capture::NodeRow& node : capture->nodes()) {
      if (node.node == 0) continue;
      const std::string piece(capture->piece(node.token));
      CHECK(std::ranges::count(nodes_with(*capture, piece), node.node) == 1);
      std::string path;
      for (const std::int32_t one : capture->path_to(node.node))
        path += capture->piece(capture->nodes()[static_cast<std::size_t>(one)].token);
      CHECK(std::ranges::count(nodes_with(*capture, path), node.node) == 1);
    }
}

TEST_CASE("find: cursor and focus go to a match, and it says which of how many") {
  const auto run = test::make_capture(record_little);
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  CommandTable commands{workspace, ui};
  CHECK_FALSE(commands.find("find")->is_enabled());
  workspace.documents.open(run->capture->path());
  REQUIRE(workspace.log.problems.empty());
  commands.find("find")->run();
  CHECK(ui.find.open);
  CHECK_FALSE(commands.find("find-next")->is_enabled());  // no query yet
  ui.find.query = "the";
  ui.find.update(workspace);
  CHECK(ui.find.count_text(workspace) == "2 found");
  commands.find("find-next")->run();
  CHECK(ui.find.count_text(workspace) == "1 of 2");
  CHECK(workspace.active()->focus.locked == 1);
  CHECK(workspace.active()->cursor == 3);
  commands.find("find-next")->run();
  CHECK(ui.find.count_text(workspace) == "2 of 2");
  CHECK(workspace.active()->focus.locked == 5);
  CHECK(workspace.active()->cursor == 11);
  CHECK(workspace.log.all.back().text == "2 of 2: node 5 in step 2");
  commands.find("find-next")->run();
  CHECK(workspace.active()->focus.locked == 1);
  commands.find("find-previous")->run();
  CHECK(workspace.active()->focus.locked == 5);
  // Without a focus the search begins at the cursor.
  workspace.comparison.lock_focus(-1);
  workspace.documents.set_cursor(4);
  commands.find("find-next")->run();
  CHECK(workspace.active()->focus.locked == 5);
  workspace.comparison.lock_focus(-1);
  workspace.documents.set_cursor(4);
  commands.find("find-previous")->run();
  CHECK(workspace.active()->focus.locked == 1);
  // The only match stays locked.
  ui.find.query = "fish";
  commands.find("find-next")->run();
  commands.find("find-next")->run();
  CHECK(workspace.active()->focus.locked == 4);
  CHECK(ui.find.count_text(workspace) == "1 of 1");
  ui.find.query = "mouse";
  commands.find("find-next")->run();
  CHECK(workspace.active()->focus.locked == 4);
  CHECK(ui.find.count_text(workspace) == "not found");
  CHECK(workspace.log.all.back().text ==
        "'mouse' is neither in the text of this run nor in its drafts");
}

TEST_CASE("find: the steps of which a condition is true, forwards, backwards and round the end") {
  const capture::Capture& run = test::draft_capture();
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  CommandTable commands{workspace, ui};
  workspace.documents.open(run.path());
  REQUIRE(workspace.log.problems.empty());
  commands.find("steps-where")->run();
  CHECK(ui.find.open);
  CHECK(ui.find.by == FindBy::kWhere);
  ui.find.where = "verdict = \"rejected\" and depth >= 2";
  workspace.documents.set_cursor(0);
  ui.find.update(workspace);
  const auto expected = steps_where(run, StepCondition(ui.find.where), 0, last_whole_step(run));
  REQUIRE(expected.size() > 2);
  CHECK(ui.find.count_text(workspace) == std::to_string(expected.size()) + " found");
  workspace.documents.set_cursor(0);
  for (const StepMatch& match : expected) {
    commands.find("find-next")->run();
    CHECK(workspace.active()->cursor == match.cursor());
    CHECK(workspace.active()->focus.locked == match.node());
    CHECK(
        ui.find.here_text(workspace).starts_with("step " + std::to_string(match.step) + ", node"));
  }
  commands.find("find-next")->run();
  CHECK(workspace.active()->cursor == expected.front().cursor());
  commands.find("find-previous")->run();
  CHECK(workspace.active()->cursor == expected.back().cursor());
  CHECK(ui.find.count_text(workspace) ==
        std::to_string(expected.size()) + " of " + std::to_string(expected.size()));
}

TEST_CASE("find: a condition that is none says where, moves nothing, and the text stays apart") {
  const auto run = test::make_capture(record_little);
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  CommandTable commands{workspace, ui};
  workspace.documents.open(run->capture->path());
  ui.find.query = "the";
  commands.find("steps-where")->run();
  ui.find.where = "acepted > 1";
  workspace.documents.set_cursor(4);
  commands.find("find-next")->run();
  CHECK(workspace.active()->cursor == 4);
  CHECK(ui.find.problem().find("column 1: 'acepted'") != std::string::npos);
  CHECK(ui.find.problem().find("did you mean accepted?") != std::string::npos);
  CHECK(ui.find.count_text(workspace) == "");
  commands.find("find")->run();
  CHECK(ui.find.asked() == "the");
  commands.find("find-next")->run();
  CHECK(ui.find.problem() == "");
  CHECK(workspace.active()->focus.locked == 5);
}

TEST_CASE("bookmarks: notes are changed and marks removed through the window's commands") {
  const auto run = test::make_capture(record_little);
  Workspace workspace{Preferences{}, [] {}};
  workspace.documents.open(run->capture->path());
  workspace.documents.set_cursor(4);
  workspace.documents.add_bookmark("first");
  REQUIRE(workspace.active()->capture->bookmarks().size() == 1);
  const std::int64_t id = workspace.active()->capture->bookmarks()[0].id;
  workspace.documents.set_bookmark_note(id, "better");
  CHECK(workspace.active()->capture->bookmarks()[0].note == "better");
  workspace.documents.remove_bookmark(id);
  CHECK(workspace.active()->capture->bookmarks().empty());
  workspace.documents.remove_bookmark(id);
  CHECK(workspace.log.problems.size() == 1);
}

}  // namespace
}  // namespace triescope::app::test_find_in_run
