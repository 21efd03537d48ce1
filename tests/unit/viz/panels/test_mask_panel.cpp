// The mask's picture: prefill's triangle, and the effect of keys and button.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/two_owners.h"
#include "viz/draw/node_text.h"
#include "viz/panels/mask_rows.h"

namespace triescope::test::test_mask_panel {
namespace {

std::int64_t rectangles_of(const RecordingCanvas& canvas, viz::Color c) {
  char color[16];
  std::snprintf(color, sizeof color, " %02x%02x%02x%02x", c.r, c.g, c.b, c.a);
  return std::count_if(canvas.calls.begin(), canvas.calls.end(), [&](const std::string& call) {
    return call.starts_with("fill_rect") && call.ends_with(color);
  });
}

TEST_CASE("mask: prefill is a triangle: every prompt token sees itself and those before it") {
  const Capture& run = two_owner_capture();
  REQUIRE(run.run().prompt_tokens.size() == 3);
  const auto panel = viz::make_panel("mask");
  const viz::Scene scene = scene_at(run, make_tick(0, Phase::kForward) + 1);
  const auto canvas = drawn(*panel, scene, {0, 0, 500, 500});
  CHECK(rectangles_of(canvas, scene.theme.accent) == 3);
  CHECK(rectangles_of(canvas, scene.theme.accent.with_alpha(0.42f)) == 3);
}

TEST_CASE("mask: prefill under a sliding window is a band, and says how wide") {
  const auto opened = make_capture([](Recorder& out) { record_two_owners(out, 2); });
  const viz::Scene scene = scene_at(*opened->capture, make_tick(0, Phase::kForward) + 1);
  const auto panel = viz::make_panel("mask");
  const auto canvas = drawn(*panel, scene, {0, 0, 500, 500});
  CHECK(rectangles_of(canvas, scene.theme.accent) == 3);
  CHECK(rectangles_of(canvas, scene.theme.accent.with_alpha(0.42f)) == 2);
  std::string said;
  for (const auto& text : canvas.texts) said += text.text + " ";
  CHECK(said.find("a causal mask with a window of 2 tokens") != std::string::npos);
}

TEST_CASE("mask: keys move a zoomed mask along its columns and back, and not past its ends") {
  const Capture& run = draft_capture();
  const viz::Scene scene = scene_at(run, make_tick(28, Phase::kForward) + 1);
  const viz::Rect area{0, 0, 400, 200};
  const auto panel = viz::make_panel("mask");
  viz::MaskRows mask;
  REQUIRE(mask.update(viz::RowSource{}, scene, false));
  drawn(*panel, scene, area);
  viz::Input zoom = mouse_at({390, 150});
  zoom.zoom_in = true;
  for (int i = 0; i < 12; ++i) {
    panel->input(zoom, area, scene);
    drawn(*panel, scene, area);
  }
  // The column under the same point.
  const auto column = [&] {
    const auto reaction = panel->input(mouse_at({300, 150}), area, scene);
    REQUIRE(reaction.hover);
    return std::find(mask.columns.begin(), mask.columns.end(), *reaction.hover) -
           mask.columns.begin();
  };
  viz::Input left, right;
  left.pan_left = right.pan_right = true;
  const auto press = [&](const viz::Input& key, int times) {
    for (int i = 0; i < times; ++i) {
      panel->input(key, area, scene);
      drawn(*panel, scene, area);
    }
    return column();
  };
  const auto first = press(left, 200), second = press(right, 1), third = press(right, 1);
  CHECK(first < second);
  CHECK(second < third);
  CHECK(press(left, 1) == second);
  CHECK(press(left, 1) == first);
  CHECK(press(left, 1) == first);
  const auto last = press(right, 200);
  CHECK(press(right, 1) == last);
}

TEST_CASE("mask: the button changes the order of the columns, and changes it back") {
  const viz::Scene scene = scene_at(draft_capture(), make_tick(28, Phase::kForward) + 1);
  const viz::Rect area{0, 0, 700, 400};
  const auto panel = viz::make_panel("mask");
  const auto click = [&](const char* label) {
    const auto canvas = drawn(*panel, scene, area);
    const auto* text = find(canvas, label);
    REQUIRE(text);
    viz::Input in = mouse_over(*text);
    in.clicked = true;
    panel->input(in, area, scene);
    return panel->view_state();
  };
  CHECK(panel->view_state() == "order=path");
  CHECK(click("columns: paths") == "order=slot");
  CHECK(click("columns: slots") == "order=path");
}

TEST_CASE(
    "mask: an audience reads every token of a step, and its legend names every colour of a row") {
  const Capture& run = draft_capture();
  std::size_t drafted = 0;
  for (std::int32_t step = 2; step < 28; ++step) {
    CAPTURE(step);
    viz::Scene scene = scene_at(run, make_tick(step, Phase::kCommit));
    scene.em = 20;
    scene.series = scene.steady = true;
    viz::MaskRows steady, plain;
    if (!steady.update(viz::RowSource{}, scene, false)) continue;
    scene.steady = false;
    REQUIRE(plain.update(viz::RowSource{}, scene, false));
    scene.steady = true;
    // Nodes that all rows see are counted; the others are columns as before.
    CHECK(steady.columns.size() + static_cast<std::size_t>(steady.shared) == plain.columns.size());
    CHECK(steady.shared > 0);
    const auto canvas = drawn(*viz::make_panel("mask"), scene, {0, 0, 1100, 620});
    // Each row's token stands beside it and above its column.
    for (const auto& row : steady.rows) {
      const std::string token = viz::node_text(scene, row.node, 64);
      CHECK(std::ranges::count_if(canvas.texts, [&](const auto& text) {
              const auto cut = text.text.rfind("…");
              return text.text == token || (cut != std::string::npos && cut > 1 &&
                                            token.starts_with(text.text.substr(0, cut)));
            }) >= 2);
    }
    for (const char* name : {"accepted", "rejected", "pending"}) CHECK(find(canvas, name));
    drafted += steady.rows.size() > 1;
  }
  CHECK(drafted > 5);
}

TEST_CASE("mask: a figure too small for its rows shows some in letters, and counts the others") {
  std::int32_t widest = 1;
  for (std::int32_t step = 1; step < 29; ++step)
    if (draft_capture().inputs(step).size() > draft_capture().inputs(widest).size()) widest = step;
  viz::Scene scene = scene_at(draft_capture(), make_tick(widest, Phase::kCommit));
  scene.export_mode = true;
  viz::MaskRows mask;
  REQUIRE(mask.update(viz::RowSource{}, scene, false));
  REQUIRE(mask.rows.size() >= 4);
  for (const float height : {60.0f, 80.0f, 100.0f, 400.0f}) {
    CAPTURE(height);
    const auto canvas = drawn(*viz::make_panel("mask"), scene, {0, 0, 500, height});
    int labels = 0, more = 0;
    for (const auto& text : canvas.texts) {
      if (text.text.starts_with("+ ")) more = std::stoi(text.text.substr(2));
      for (const auto& row : mask.rows) labels += text.text == std::to_string(row.position);
    }
    CHECK(labels > 0);
    if (height < 70) CHECK(more > 0);
    if (height > 300) CHECK(more == 0);
  }
}

}  // namespace
}  // namespace triescope::test::test_mask_panel
