// The trie's map in the corner: when it is drawn, and the effect of a click and a drag on it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/panel.h"

namespace triescope::test::test_trie_minimap {
namespace {

constexpr viz::Rect kArea{0, 0, 600, 300};
// A point on the map, half an em from the corner at the bottom left.
constexpr viz::Point kOnMap{20, 285};

viz::Scene end_of(const Capture& run) { return scene_at(run, run.end_tick()); }

bool over_map(viz::Panel& panel, const viz::Scene& scene, viz::Point at) {
  const auto reaction = panel.input(mouse_at(at), kArea, scene);
  return !reaction.tooltip.empty() && reaction.tooltip[0].starts_with("the whole trie");
}

const std::string* box_of(const RecordingCanvas& canvas, const std::string& text) {
  for (const auto& one : canvas.texts)
    if (one.text == text) return &one.text;
  return nullptr;
}

TEST_CASE("trie map: there while the trie does not fit, and not when all of it is in sight") {
  const Capture& run = beam_capture();
  const auto panel = viz::make_panel("trie");
  const viz::Scene scene = end_of(run);
  drawn(*panel, scene, kArea);
  CHECK(over_map(*panel, scene, kOnMap));
  viz::Input fit;
  fit.fit = true;
  panel->input(fit, kArea, scene);
  drawn(*panel, scene, kArea);
  CHECK_FALSE(over_map(*panel, scene, kOnMap));
  // An export has no map, and a panel without room for it has none.
  viz::Scene exported = scene;
  exported.export_mode = true;
  const auto other = viz::make_panel("trie");
  drawn(*other, exported, kArea);
  CHECK_FALSE(over_map(*other, exported, kOnMap));
  const viz::Scene early = scene_at(run, make_tick(1, Phase::kDraft));
  drawn(*other, early, kArea);
  CHECK_FALSE(over_map(*other, early, kOnMap));
}

TEST_CASE("trie map: a click goes there, a drag follows the mouse, F goes back to all of it") {
  const Capture& run = beam_capture();
  const auto panel = viz::make_panel("trie");
  const viz::Scene scene = end_of(run);
  const std::string prompt = "prompt, 34 tokens";
  auto canvas = drawn(*panel, scene, kArea);
  const auto seen = [&] {
    const auto* text = find(canvas, prompt);
    return text && text->visible.w > 0;
  };
  REQUIRE_FALSE(seen());  // the growing end is in sight
  viz::Input in = mouse_at({8, 285});
  in.clicked = true;
  panel->input(in, kArea, scene);
  canvas = drawn(*panel, scene, kArea);
  CHECK(seen());
  // A drag that begins on the map goes on wherever the mouse is.
  viz::Input drag = mouse_at({9, 285});
  drag.dragging = true;
  drag.drag_delta = {1, 0};
  panel->input(drag, kArea, scene);
  drag.mouse = {500, 100};
  drag.drag_delta = {491, -185};
  const auto reaction = panel->input(drag, kArea, scene);
  CHECK(reaction.hover == -1);
  canvas = drawn(*panel, scene, kArea);
  CHECK_FALSE(seen());
  // A drag that begins elsewhere moves the picture itself.
  viz::Input pan;
  panel->input(pan, kArea, scene);
  const auto before = drawn(*panel, scene, kArea);
  pan = mouse_at({300, 100});
  pan.dragging = true;
  pan.drag_delta = {10, 0};
  panel->input(pan, kArea, scene);
  const auto after = drawn(*panel, scene, kArea);
  int moved = 0;
  for (const auto& text : before.texts)
    for (const auto& same : after.texts)
      moved += text.text == same.text && text.box.y == same.box.y &&
               std::abs(same.box.x - text.box.x - 10) < 0.01f;
  CHECK(moved > 3);
  CHECK(box_of(after, "folds: auto"));
}

TEST_CASE("trie map: it shows the beams in their colours, and costs spots, not nodes") {
  const auto run = make_capture([](Recorder& out) { record_beam(out, 200, 3); });
  const auto panel = viz::make_panel("trie");
  panel->set_view_state("mode=none;zoom=1");
  const viz::Scene scene = end_of(*run->capture);
  const auto canvas = drawn(*panel, scene, kArea);
  // Spots are 2 px high, within 11 × 5 em.
  int spots = 0, best = 0;
  char color[16];
  const viz::Color beam = scene.theme.beam(0);
  std::snprintf(color, sizeof color, " %02x%02x%02xff", beam.r, beam.g, beam.b);
  for (const std::string& call : canvas.calls) {
    if (!call.starts_with("fill_rect ") || call.find(" 2.000 0.000 ") == std::string::npos)
      continue;
    ++spots;
    best += call.ends_with(color) ? 1 : 0;
  }
  CHECK(spots > 10);
  CHECK(best > 0);
  CHECK(spots < 77 * 35);
}

TEST_CASE(
    "trie map: it covers no node and nothing that is written beside one, at any size and step") {
  int maps = 0, none = 0;
  for (const Capture* const run : {&beam_capture(), &draft_capture()})
    for (const viz::Point size : {viz::Point{600, 300}, {420, 260}, {900, 700}, {1500, 420}}) {
      const viz::Rect area{0, 0, size.x, size.y};
      const auto panel = viz::make_panel("trie");
      for (Tick cursor = 3; cursor <= run->end_tick(); cursor += 7) {
        const viz::Scene scene = scene_at(*run, cursor);
        const auto canvas = drawn(*panel, scene, area);
        // The map is drawn last: calls before its ground are the tree's.
        char ground[64];
        const viz::Color surface = scene.theme.surface.with_alpha(0.94f);
        std::snprintf(ground, sizeof ground, " %02x%02x%02x%02x", surface.r, surface.g, surface.b,
                      surface.a);
        viz::Rect map;
        for (const std::string& call : canvas.calls)
          if (call.starts_with("fill_rect ") && call.ends_with(ground))
            REQUIRE(std::sscanf(call.c_str(), "fill_rect %f %f %f %f", &map.x, &map.y, &map.w,
                                &map.h) == 4);
        if (map.w == 0) {
          ++none;
          continue;
        }
        ++maps;
        for (const auto& text : canvas.texts) {
          CAPTURE(text.text);
          CAPTURE(cursor);
          const bool apart = text.visible.w <= 0 || text.visible.right() <= map.x ||
                             text.visible.x >= map.right() || text.visible.bottom() <= map.y ||
                             text.visible.y >= map.bottom();
          CHECK(apart);
        }
      }
    }
  CHECK(maps > 20);
  CHECK(none > 0);
}

}  // namespace
}  // namespace triescope::test::test_trie_minimap
