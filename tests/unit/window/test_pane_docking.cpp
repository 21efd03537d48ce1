#include "app/window/workspace/pane_docking.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace triescope::app::test_pane_docking {
namespace {

using nlohmann::json;

// "(trie mask | text) / timeline": "|" is side by side, "/" is one above the other, "*" marks the
// active tab where it is not the first.
std::string shown(const PaneNode& node) {
  if (node.is_leaf()) {
    std::string out;
    for (const std::string& panel : node.panels) {
      if (!out.empty()) out += ' ';
      out += panel;
      if (panel == node.active && panel != node.panels.front()) out += '*';
    }
    return out;
  }
  return "(" + shown(*node.first) + (node.side_by_side ? " | " : " / ") + shown(*node.second) + ")";
}
std::string shown(const PaneLayout& layout) {
  std::string out = shown(*layout.root);
  for (const FloatingPane& pane : layout.floating) out += " + " + shown(*pane.root);
  return out;
}

PaneLayout sample() {
  PaneLayout layout;
  layout.root = make_split(
      false, 0.8f, make_split(true, 0.6f, make_leaf({"trie", "mask"}), make_leaf({"text", "log"})),
      make_leaf({"timeline"}));
  return layout;
}
PaneNode& trie_pane(PaneLayout& layout) { return *layout.root->first->first; }
PaneNode& text_pane(PaneLayout& layout) { return *layout.root->first->second; }

TEST_CASE(
    "pane docking: a panel moves by key to the next pane, the floating ones last, and beside or below its own") {
  PaneLayout layout = sample();
  REQUIRE(undock_panel(layout, "log", {0, 0, 300, 200}));
  REQUIRE(shown(layout) == "((trie mask | text) / timeline) + log");
  CHECK(move_panel(layout, "mask", PaneMove::kNextPane));
  CHECK(shown(layout) == "((trie | text mask*) / timeline) + log");
  CHECK(move_panel(layout, "mask", PaneMove::kNextPane));
  CHECK(move_panel(layout, "mask", PaneMove::kNextPane));
  CHECK(shown(layout) == "((trie | text) / timeline) + log mask*");
  CHECK(move_panel(layout, "mask", PaneMove::kNextPane));
  CHECK(shown(layout) == "((trie mask* | text) / timeline) + log");
  CHECK(move_panel(layout, "mask", PaneMove::kBelow));
  CHECK(shown(layout) == "(((trie / mask) | text) / timeline) + log");
  CHECK_FALSE(move_panel(layout, "mask", PaneMove::kRight));  // alone in its pane
  CHECK(move_panel(layout, "trie", PaneMove::kNextPane));     // its pane goes
  CHECK(shown(layout) == "((mask trie* | text) / timeline) + log");
  CHECK(move_panel(layout, "trie", PaneMove::kRight));
  CHECK(shown(layout) == "(((mask | trie) | text) / timeline) + log");
  CHECK_FALSE(move_panel(layout, "none", PaneMove::kRight));
  PaneLayout one{make_leaf({"trie", "mask"}), {}};
  CHECK_FALSE(move_panel(one, "mask", PaneMove::kNextPane));
  CHECK(shown(one) == "trie mask");
}

TEST_CASE("pane docking: a drop near an edge takes that side, in the middle it becomes a tab") {
  const viz::Rect pane{100, 200, 400, 200};
  CHECK(drop_side(pane, {300, 300}) == DropSide::kTabs);
  CHECK(drop_side(pane, {199, 300}) == DropSide::kLeft);
  CHECK(drop_side(pane, {200, 300}) == DropSide::kTabs);
  CHECK(drop_side(pane, {401, 300}) == DropSide::kRight);
  CHECK(drop_side(pane, {300, 249}) == DropSide::kAbove);
  CHECK(drop_side(pane, {300, 351}) == DropSide::kBelow);
  // In a corner the nearer edge counts.
  CHECK(drop_side(pane, {110, 240}) == DropSide::kLeft);
  CHECK(drop_side(pane, {150, 210}) == DropSide::kAbove);
  const viz::Rect right = drop_area(pane, DropSide::kRight);
  CHECK(right.x == 300);
  CHECK(right.w == 200);
  CHECK(right.h == 200);
  const viz::Rect below = drop_area(pane, DropSide::kBelow);
  CHECK(below.y == 300);
  CHECK(below.h == 100);
  CHECK(drop_area(pane, DropSide::kTabs).w == 400);
}

TEST_CASE("pane docking: a panel dropped in a pane becomes its tab in front") {
  PaneLayout layout = sample();
  dock_panel(layout, "mask", text_pane(layout), DropSide::kTabs);
  CHECK(shown(layout) == "((trie | text log mask*) / timeline)");
}

TEST_CASE("pane docking: a panel dropped at an edge splits the pane there") {
  for (const auto& [side, expected] :
       {std::pair{DropSide::kLeft, "((trie | (mask | text log)) / timeline)"},
        std::pair{DropSide::kRight, "((trie | (text log | mask)) / timeline)"},
        std::pair{DropSide::kAbove, "((trie | (mask / text log)) / timeline)"},
        std::pair{DropSide::kBelow, "((trie | (text log / mask)) / timeline)"}}) {
    PaneLayout layout = sample();
    dock_panel(layout, "mask", text_pane(layout), side);
    CHECK(shown(layout) == expected);
  }
}

TEST_CASE("pane docking: two tabs of one pane are seen together after one is dropped at its edge") {
  PaneLayout layout = sample();
  dock_panel(layout, "mask", trie_pane(layout), DropSide::kBelow);
  CHECK(shown(layout) == "(((trie / mask) | text log) / timeline)");
}

TEST_CASE("pane docking: a pane that loses its last panel goes, and its neighbour takes its room") {
  PaneLayout layout = sample();
  dock_panel(layout, "timeline", text_pane(layout), DropSide::kTabs);
  CHECK(shown(layout) == "(trie mask | text log timeline*)");
  dock_panel(layout, "trie", *layout.root->second, DropSide::kTabs);
  dock_panel(layout, "mask", *layout.root->second, DropSide::kTabs);
  CHECK(shown(layout) == "text log timeline trie mask*");
}

TEST_CASE("pane docking: a panel dropped where it is stays") {
  PaneLayout layout = sample();
  const std::string before = shown(layout);
  dock_panel(layout, "mask", trie_pane(layout), DropSide::kTabs);
  dock_panel(layout, "timeline", *layout.root->second, DropSide::kLeft);
  dock_panel(layout, "no such panel", trie_pane(layout), DropSide::kLeft);
  CHECK(shown(layout) == before);
}

TEST_CASE(
    "pane docking: a panel goes into a window of its own and back, by a drop or by closing the window") {
  PaneLayout layout = sample();
  REQUIRE(undock_panel(layout, "mask", {10, 20, 300, 200}));
  CHECK(shown(layout) == "((trie | text log) / timeline) + mask");
  CHECK(layout.floating[0].area.y == 20);
  CHECK_FALSE(undock_panel(layout, "mask", {0, 0, 300, 200}));  // it is alone there already
  dock_panel(layout, "log", *layout.floating[0].root, DropSide::kBelow);
  CHECK(shown(layout) == "((trie | text) / timeline) + (mask / log)");
  dock_panel(layout, "mask", trie_pane(layout), DropSide::kRight);
  CHECK(shown(layout) == "(((trie | mask) | text) / timeline) + log");
  dock_back(layout, 0);
  CHECK(shown(layout) == "(((trie | mask) | text log*) / timeline)");
  dock_back(layout, 0);  // no such window: nothing happens
  CHECK(layout.floating.empty());
}

TEST_CASE("pane docking: the window keeps its last panel") {
  PaneLayout layout;
  layout.root = make_leaf({"trie"});
  CHECK_FALSE(undock_panel(layout, "trie", {0, 0, 300, 200}));
  layout.floating.push_back({make_leaf({"text"}), {0, 0, 300, 200}, 1});
  // The last panel may be dropped into a floating window, whose panes then become the main
  // window's.
  dock_panel(layout, "trie", *layout.floating[0].root, DropSide::kTabs);
  CHECK(shown(layout) == "text trie*");
}

TEST_CASE("pane docking: a panel is shown wherever it is") {
  PaneLayout layout = sample();
  REQUIRE(undock_panel(layout, "log", {0, 0, 300, 200}));
  dock_panel(layout, "text", *layout.floating[0].root, DropSide::kTabs);
  CHECK(show_panel(layout, "mask"));
  CHECK(show_panel(layout, "log"));
  CHECK(shown(layout) == "(trie mask* / timeline) + log text");
  CHECK_FALSE(show_panel(layout, "kv"));
}

TEST_CASE("pane docking: a layout with windows of their own survives being written and read") {
  const std::vector<std::string> known = {"trie", "mask", "text", "log", "timeline"};
  PaneLayout layout = sample();
  REQUIRE(undock_panel(layout, "mask", {-30, 20, 300, 200}));
  const auto read = pane_layout_from_json(layout_to_json(layout), known);
  REQUIRE(read);
  CHECK(shown(*read) == shown(layout));
  CHECK(read->floating[0].area.x == -30);
  CHECK(read->floating[0].area.w == 300);
  // A panel that the file does not name goes to the last pane, once.
  auto more = known;
  more.push_back("kv");
  CHECK(shown(*pane_layout_from_json(layout_to_json(layout), more)) ==
        "((trie | text log) / timeline kv) + mask");
  // The form without floating windows is read too.
  CHECK(shown(*pane_layout_from_json(layout_to_json(*sample().root), known)) == shown(sample()));
}

TEST_CASE(
    "pane docking: what is not a layout is refused, and sizes that no screen has are limited") {
  const std::vector<std::string> known = {"trie", "mask"};
  for (const char* text :
       {"null", "3", "[]", "{}", R"({"panes": 5})",
        R"({"panes": {"panels": ["trie"]}, "floating": 7})",
        R"({"panes": {"panels": ["trie"]}, "floating": [{"panes": {"panels": [1]}}]})"}) {
    CAPTURE(text);
    CHECK_FALSE(pane_layout_from_json(json::parse(text), known));
  }
  const auto read = pane_layout_from_json(json::parse(R"({"panes": {"panels": ["trie"]},
          "floating": [{"panes": {"panels": ["mask", "mask"]}, "w": -5, "h": 1e30, "x": 1e30}]})"),
                                          known);
  REQUIRE(read);
  CHECK(read->floating[0].area.w == 120);
  CHECK(read->floating[0].area.h == 1e5f);
  CHECK(read->floating[0].area.x == 1e5f);
}

}  // namespace
}  // namespace triescope::app::test_pane_docking
