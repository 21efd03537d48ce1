// Zooming keeps the place under the pointer.
#include <doctest/doctest.h>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/recording_canvas.h"
#include "viz/panels/panel.h"

namespace triescope::viz::test_zoom {
namespace {

Scene scene_of(const capture::Capture& capture, capture::Tick cursor) {
  Scene scene;
  scene.capture = &capture;
  scene.cursor = cursor;
  scene.theme = dark_theme();
  return scene;
}

std::string first_line(const Reaction& reaction) {
  return reaction.tooltip.empty() ? "" : reaction.tooltip.front();
}

TEST_CASE("timeline: the wheel keeps the step under the pointer, F shows the whole run again") {
  const capture::Capture& capture = test::draft_capture();
  const Scene scene = scene_of(capture, capture.end_tick());
  const Rect area{0, 0, 600, 120};
  const auto panel = make_panel("timeline");
  test::RecordingCanvas canvas;
  panel->draw(canvas, area, scene);
  Input over;
  over.inside = true;
  over.mouse = {300, 70};
  const std::string before = first_line(panel->input(over, area, scene));
  REQUIRE_FALSE(before.empty());
  Input wheel = over;
  wheel.wheel = 1;
  for (int i = 0; i < 4; ++i) {
    panel->input(wheel, area, scene);
    panel->draw(canvas, area, scene);
    CHECK(first_line(panel->input(over, area, scene)) == before);
  }
  // It did zoom: the run's beginning is no longer at the left edge.
  Input left = over;
  left.mouse = {62, 70};
  CHECK(first_line(panel->input(left, area, scene)) != "step 0");
  Input fit = over;
  fit.fit = true;
  panel->input(fit, area, scene);
  panel->draw(canvas, area, scene);
  CHECK(first_line(panel->input(left, area, scene)) == "step 0");
}

TEST_CASE("timeline: a cursor that leaves what is shown is brought back into sight") {
  const capture::Capture& capture = test::draft_capture();
  Scene scene = scene_of(capture, capture.end_tick());
  const Rect area{0, 0, 600, 120};
  const auto panel = make_panel("timeline");
  test::RecordingCanvas canvas;
  panel->draw(canvas, area, scene);
  Input wheel;
  wheel.inside = true;
  wheel.mouse = {580, 70};
  wheel.wheel = 6;
  panel->input(wheel, area, scene);
  panel->draw(canvas, area, scene);
  scene.cursor = 0;
  panel->draw(canvas, area, scene);
  Input left;
  left.inside = true;
  left.mouse = {62, 70};
  CHECK(first_line(panel->input(left, area, scene)) == "step 0");
}

TEST_CASE("positions: the wheel keeps the row under the pointer, dragging reaches the others") {
  const capture::Capture& capture = test::draft_capture();
  // A step whose forward reads several inputs.
  std::int32_t step = 1;
  for (const capture::StepRow& row : capture.steps())
    if (row.step > 0 && row.forward_rows > 3) step = row.step;
  const Scene scene = scene_of(capture, capture::make_tick(step + 1, capture::Phase::kDraft));
  const Rect area{0, 0, 500, 200};
  const auto panel = make_panel("positions");
  test::RecordingCanvas canvas;
  panel->draw(canvas, area, scene);
  Input over;
  over.inside = true;
  over.mouse = {200, 75};
  const auto row = panel->input(over, area, scene).hover;
  REQUIRE(row);
  REQUIRE(*row >= 0);
  Input wheel = over;
  wheel.wheel = 1;
  for (int i = 0; i < 6; ++i) {
    panel->input(wheel, area, scene);
    panel->draw(canvas, area, scene);
    CHECK(panel->input(over, area, scene).hover == row);
  }
  Input drag = over;
  drag.dragging = true;
  drag.drag_delta = {0, -100};
  panel->input(drag, area, scene);
  panel->draw(canvas, area, scene);
  CHECK(panel->input(over, area, scene).hover != row);
  Input fit = over;
  fit.fit = true;
  panel->input(fit, area, scene);
  panel->draw(canvas, area, scene);
  CHECK(panel->input(over, area, scene).hover == row);
}

}  // namespace
}  // namespace triescope::viz::test_zoom
