// Layouts by name: the presets, the user's own, and what is left of them in a damaged file.
#include <doctest/doctest.h>

#include "app/window/commands.h"
#include "core/base/error.h"

namespace triescope::app::test_layouts {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

struct Layouts {
  Workspace workspace{Preferences{}, [] {}};
  UiState ui;
  CommandTable commands{workspace, ui};

  Names first_pane() const {
    const PaneNode* node = workspace.layouts.now.root.get();
    while (!node->is_leaf()) node = node->first.get();
    return node->panels;
  }
};

TEST_CASE_FIXTURE(Layouts, "layouts: a layout is saved as it is, used by name and forgotten") {
  CHECK(workspace.layouts.name == "debug");
  workspace.layouts.undock("kv", {10, 20, 400, 300});
  CHECK(workspace.layouts.name.empty());
  workspace.layouts.save("board");
  CHECK(workspace.layouts.name == "board");
  CHECK(workspace.layouts.own_names() == Names{"board"});
  CHECK(workspace.layouts.names() ==
        Names{"debug", "lecture", "memory", "compare", "learn", "board"});
  workspace.use_layout("lecture");
  CHECK(workspace.layouts.name == "lecture");
  CHECK(workspace.layouts.now.floating.empty());
  workspace.use_layout("board");
  REQUIRE(workspace.layouts.now.floating.size() == 1);
  CHECK(workspace.layouts.now.floating[0].root->panels == Names{"kv"});
  CHECK(first_pane() == Names{"trie", "mask", "positions"});
  workspace.layouts.forget("board");
  CHECK(workspace.layouts.own_names().empty());
  CHECK(workspace.layouts.name.empty());
  CHECK(workspace.layouts.now.floating.size() == 1);  // what is shown stays
}

TEST_CASE_FIXTURE(Layouts,
                  "layouts: a layout that there is not, a preset's name and no name are refused") {
  CHECK_THROWS_WITH_AS(workspace.use_layout("lectrue"),
                       doctest::Contains("layout 'lectrue' is not one of: debug, lecture, memory, "
                                         "compare, learn; did you mean lecture?"),
                       Error);
  CHECK_THROWS_AS(workspace.layouts.save("memory"), Error);
  CHECK_THROWS_AS(workspace.layouts.save(""), Error);
  CHECK(workspace.layouts.own_names().empty());
}

TEST_CASE_FIXTURE(Layouts,
                  "layouts: every saved layout has a command, its key after the presets'") {
  workspace.layouts.save("b");
  workspace.layouts.save("a");
  CHECK(commands.find("layout-a") == nullptr);
  commands.update(workspace, ui);
  REQUIRE(commands.find("layout-a"));
  CHECK(to_string(commands.find("layout-a")->chords.front()) == "Ctrl+5");
  CHECK(to_string(commands.find("layout-b")->chords.front()) == "Ctrl+6");
  CHECK(commands.find("layout-b")->title == "Layout: b");
  CHECK(commands.find("layout-b")->menu == "View");
  CHECK_FALSE(commands.find("layout-b")->checked());
  commands.find("layout-b")->run();
  CHECK(workspace.layouts.name == "b");
  CHECK(commands.find("layout-b")->checked());
  for (const char* more : {"c", "d", "e", "f"}) workspace.layouts.save(more);
  commands.update(workspace, ui);
  CHECK(to_string(commands.find("layout-e")->chords.front()) == "Ctrl+9");
  CHECK(commands.find("layout-f")->chords.empty());
  workspace.layouts.forget("b");
  commands.update(workspace, ui);
  CHECK(commands.find("layout-b") == nullptr);
}

TEST_CASE("layouts: a docked panel makes the layout one's own") {
  Workspace workspace{Preferences{}, [] {}};
  workspace.use_layout("lecture");
  PaneNode* pane = workspace.layouts.now.root.get();
  while (!pane->is_leaf()) pane = pane->first.get();
  workspace.layouts.dock("mask", *pane, DropSide::kTabs);
  CHECK(workspace.layouts.name.empty());
  CHECK(pane->active == "mask");
}

TEST_CASE_FIXTURE(Layouts, "layouts: a layout that one comes back to has the same tabs in front") {
  const auto fronts = [&] { return front_panels(workspace.layouts.now); };
  const auto go = [&](const std::string& name) { commands.find("layout-" + name)->run(); };
  const Names made = fronts();
  CHECK(workspace.show_panel("mask"));
  CHECK(workspace.show_panel("log"));
  const Names chosen = fronts();
  CHECK(chosen != made);
  go("memory");
  CHECK(workspace.show_panel("text"));
  const Names of_memory = fronts();
  go("compare");
  CHECK(workspace.show_panel("kv"));
  const Names compared = fronts();
  go("debug");
  CHECK(fronts() == chosen);
  go("memory");
  CHECK(fronts() == of_memory);
  go("compare");
  CHECK(fronts() == compared);
  // The tabs come back however the layout was left: by a comparison, or by moving a panel.
  go("debug");
  workspace.comparison.start(nullptr);
  go("debug");
  CHECK(fronts() == chosen);
  workspace.layouts.undock("kv", {10, 20, 400, 300});
  go("debug");
  CHECK(fronts() == chosen);
  // The layout shown already becomes as it was made.
  go("debug");
  CHECK(fronts() == made);
  go("memory");
  go("debug");
  CHECK(fronts() == made);
}

TEST_CASE_FIXTURE(Layouts, "layouts: scripts, lessons and --layout get a layout as it was made") {
  const Names made = front_panels(workspace.layouts.now);
  workspace.show_panel("mask");
  workspace.use_layout("memory");
  workspace.use_layout("debug");
  CHECK(front_panels(workspace.layouts.now) == made);
}

TEST_CASE_FIXTURE(Layouts,
                  "layouts: tabs are kept of one's own layouts too, until they are forgotten") {
  workspace.layouts.undock("kv", {10, 20, 400, 300});
  workspace.show_panel("positions");
  workspace.layouts.save("board");
  commands.update(workspace, ui);
  const Names saved = front_panels(workspace.layouts.now);
  workspace.show_panel("mask");
  const Names chosen = front_panels(workspace.layouts.now);
  workspace.go_to_layout("lecture");
  workspace.go_to_layout("board");
  CHECK(front_panels(workspace.layouts.now) == chosen);
  workspace.go_to_layout("board");
  CHECK(front_panels(workspace.layouts.now) == saved);
  workspace.layouts.forget("board");
  CHECK_FALSE(workspace.preferences.layout_tabs.contains("board"));
}

TEST_CASE("layouts: panels come to the front where the layout has them, and nowhere else") {
  PaneLayout layout{make_split(true, 0.5f, make_leaf({"trie", "mask"}), make_leaf({"text", "kv"})),
                    {}};
  bring_to_front(layout, {"kv", "kv", "kv", "too many"});
  CHECK(front_panels(layout) == Names{"kv", "trie", "kv"});
  bring_to_front(layout, {"", "mask"});
  CHECK(front_panels(layout) == Names{"kv", "mask", "kv"});
  bring_to_front(layout, {});
  CHECK(front_panels(layout) == Names{"kv", "mask", "kv"});
}

TEST_CASE("layouts: what is remembered and can be read is used, the rest is told and left out") {
  Layouts source;
  source.workspace.layouts.undock("log", {1, 2, 300, 200});
  Preferences kept;
  kept.layout = layout_to_json(source.workspace.layouts.now);
  kept.layout_name = "board";
  kept.layouts = {{"board", kept.layout}};
  Workspace restarted(kept, [] {});
  CHECK(restarted.layouts.now.floating.size() == 1);
  CHECK(restarted.layouts.name == "board");
  CHECK(restarted.log.all.empty());

  kept.layouts["bad"] = 7;
  kept.layouts["memory"] = kept.layout;  // a preset's name
  kept.layout = json{{"panes", "?"}};
  Workspace damaged(kept, [] {});
  CHECK(damaged.layouts.own_names() == Names{"board"});
  CHECK(damaged.layouts.name == "debug");
  CHECK(damaged.layouts.now.floating.empty());
  REQUIRE(damaged.log.all.size() == 1);
  CHECK(damaged.log.all[0].text ==
        "window.json: not a layout: 'bad', 'memory', the last one; expected panes with panels' "
        "names; they are left out");
  CHECK(damaged.log.problems.empty());

  kept.layouts = "text";
  kept.layout = nullptr;
  Workspace none(kept, [] {});
  CHECK(none.layouts.own_names().empty());
  CHECK(none.log.all.size() == 1);
}

}  // namespace
}  // namespace triescope::app::test_layouts
