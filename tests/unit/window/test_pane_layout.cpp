#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "app/window/shell/chord.h"
#include "app/window/workspace/pane_layout.h"
#include "core/base/error.h"
#include "viz/panels/panel.h"

namespace triescope::app::test_pane_layout {
namespace {

std::vector<std::string> all_panels() {
  std::vector<std::string> names;
  for (const auto& panel : viz::make_panels()) names.push_back(panel->info().name);
  return names;
}

std::vector<std::string> visible_panels(const PlacedLayout& layout) {
  std::vector<std::string> names;
  for (const PlacedPane& pane : layout.panes) names.push_back(pane.node->active);
  return names;
}

bool overlap(const viz::Rect& a, const viz::Rect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

TEST_CASE("pane layout: every preset holds every panel exactly once") {
  std::vector<std::string> expected = all_panels();
  std::sort(expected.begin(), expected.end());
  for (const std::string& name : preset_names()) {
    CAPTURE(name);
    const auto root = preset_layout(name);
    // A huge area shows every leaf, and their tabs together are all panels.
    std::vector<std::string> found;
    for (const PlacedPane& pane : place(*root, {0, 0, 10000, 10000}, {10, 10, 10}, 4).panes)
      found.insert(found.end(), pane.panels.begin(), pane.panels.end());
    std::sort(found.begin(), found.end());
    CHECK(found == expected);
  }
  CHECK_THROWS_AS(preset_layout("no such preset"), Error);
}

TEST_CASE("pane layout: panes never overlap, stay inside, and are never smaller than the minimum") {
  for (const std::string& name : preset_names()) {
    for (const float width : {300.0f, 640.0f, 1280.0f, 3840.0f}) {
      for (const float height : {160.0f, 360.0f, 720.0f, 2160.0f}) {
        CAPTURE(name);
        CAPTURE(width);
        CAPTURE(height);
        const auto root = preset_layout(name);
        const viz::Rect area{5, 7, width, height};
        const PlacedLayout layout = place(*root, area, {250, 120, 90}, 6);
        REQUIRE_FALSE(layout.panes.empty());
        for (std::size_t i = 0; i < layout.panes.size(); ++i) {
          const viz::Rect& pane = layout.panes[i].area;
          CHECK(pane.x >= area.x);
          CHECK(pane.y >= area.y);
          CHECK(pane.right() <= area.right());
          CHECK(pane.bottom() <= area.bottom());
          if (layout.panes.size() > 1) {
            CHECK(pane.w >= 250);
            CHECK(pane.h >= 90);
          }
          for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(pane, layout.panes[j].area));
        }
      }
    }
  }
}

TEST_CASE("pane layout: a small window shows all panels as tabs of fewer panes") {
  const auto root = preset_layout("debug");
  const PlacedLayout layout = place(*root, {0, 0, 300, 130}, {250, 120, 90}, 6);
  CHECK(layout.panes.size() == 1);
  CHECK(layout.panes[0].panels.size() == all_panels().size());
}

TEST_CASE(
    "pane layout: a panel that is shown is on top of its pane, in large and in small windows") {
  const auto root = preset_layout("debug");
  REQUIRE(show_panel(*root, "verdict"));
  for (const viz::Rect area : {viz::Rect{0, 0, 3000, 2000}, viz::Rect{0, 0, 300, 130}}) {
    const std::vector<std::string> visible = visible_panels(place(*root, area, {250, 120, 90}, 6));
    CHECK(std::find(visible.begin(), visible.end(), "verdict") != visible.end());
  }
  CHECK_FALSE(show_panel(*root, "no such panel"));
}

TEST_CASE(
    "pane layout: who learns has the tree, the decision, its words and the text in front at 1280×720") {
  // The area that the run bar leaves.
  const viz::Rect area{0, 0, 940, 590};
  const auto visible = visible_panels(place(*preset_layout("learn"), area, {250, 120, 90}, 6));
  CHECK(visible == std::vector<std::string>{"trie", "verdict", "narration", "text", "timeline"});
}

TEST_CASE("pane layout: a layout survives being remembered, and damage is refused") {
  const auto root = preset_layout("memory");
  show_panel(*root, "inspector");
  const nlohmann::json json = layout_to_json(*root);
  const auto back = layout_from_json(json, all_panels());
  REQUIRE(back);
  CHECK(layout_to_json(*back) == json);
  CHECK_FALSE(layout_from_json(nullptr, all_panels()));
  CHECK_FALSE(layout_from_json({{"first", 3}}, all_panels()));
  CHECK_FALSE(layout_from_json({{"panels", {"no such panel"}}, {"active", 5}}, all_panels()));
  nlohmann::json wrong = json;
  wrong["ratio"] = "wide";
  CHECK_FALSE(layout_from_json(wrong, all_panels()));
}

TEST_CASE("pane layout: panels that a remembered layout does not know are added to it") {
  const auto back = layout_from_json({{"panels", {"trie"}}, {"active", "trie"}}, all_panels());
  REQUIRE(back);
  CHECK(back->panels.size() == all_panels().size());
}

TEST_CASE("pane layout: chords read and write the same") {
  for (const char* text :
       {"F5", "Shift+F5", "Ctrl+Shift+P", "Alt+F10", "Space", "Left", "Ctrl+=", "Ctrl+1", "?"}) {
    CAPTURE(text);
    if (std::string(text) == "?") {
      CHECK_THROWS_AS(chord_from_string(text), Error);
    } else {
      CHECK(to_string(chord_from_string(text)) == text);
    }
  }
}

}  // namespace
}  // namespace triescope::app::test_pane_layout
