// Two compared runs have charts with the same axes, unless each is to have its own.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/two_owners.h"
#include "viz/text/number_text.h"
#include "viz/text/timed_text.h"

namespace triescope::test::test_shared_axes {
namespace {

struct Shape {
  int steps = 0;
  std::int64_t step_us = 0;
  std::int32_t live = 0, accepted = 0;
  bool timed = false;
};

std::unique_ptr<OpenedCapture> run_of(const Shape& shape) {
  auto out = std::make_unique<OpenedCapture>();
  const std::string path = (out->folder.path() / "run.tscap").string();
  {
    const auto recorder = open_recorder(path, {.timed_while_drawing = shape.timed});
    RowTables rows{.run = synthetic_info(3, "ngram_trie", "", "recycle")};
    for (std::int32_t step = 0; step < shape.steps; ++step) {
      rows.steps.push_back({.step = step,
                            .forward_rows = 1,
                            .drafted = shape.accepted,
                            .accepted = step > 0 ? shape.accepted : 0,
                            .emitted = 1});
      rows.phases.push_back(
          {.tick = make_tick(step, Phase::kForward), .duration_us = shape.step_us});
      rows.memory.push_back({.step = step, .live = shape.live, .reserved = shape.live});
    }
    recorder->write(rows);
    recorder->write({.finish = capture::Finish{capture::RunStatus::kDone, ""}});
  }
  out->capture = Capture::open(path);
  return out;
}

// The axes' numbers, in drawing order.
std::vector<std::string> numbers(const RecordingCanvas& canvas) {
  std::vector<std::string> out;
  for (const auto& one : canvas.texts)
    if (!one.text.empty() && one.text.find_first_not_of("0123456789.") == std::string::npos)
      out.push_back(one.text);
  return out;
}

const Shape kShort{.steps = 6, .step_us = 41'400, .live = 900, .accepted = 2},
    kLong{.steps = 14, .step_us = 84'800, .live = 1700, .accepted = 7};

TEST_CASE("shared axes: compared runs share the axes of timeline, memory and accepted drafts") {
  const auto small = run_of(kShort), large = run_of(kLong);
  const viz::Rect area{0, 0, 700, 400};
  for (const char* name : {"timeline", "memory", "verdict"}) {
    CAPTURE(name);
    viz::Scene own = scene_at(*small->capture, small->capture->end_tick()),
               other = scene_at(*large->capture, large->capture->end_tick());
    const auto alone = numbers(drawn(*viz::make_panel(name), own, area));
    CHECK(alone != numbers(drawn(*viz::make_panel(name), other, area)));
    own.beside = {large->capture.get(), other.cursor};
    other.beside = {small->capture.get(), own.cursor};
    const auto left = numbers(drawn(*viz::make_panel(name), own, area)),
               right = numbers(drawn(*viz::make_panel(name), other, area));
    CHECK(left != alone);
    if (std::string(name) != "verdict") CHECK(left == right);  // counts over its bars are its own
  }
}

TEST_CASE("timeline: the scale of two runs is the slower one's in both") {
  const auto small = run_of(kShort), large = run_of(kLong);
  viz::Scene scene = scene_at(*small->capture, small->capture->end_tick());
  const viz::Rect area{0, 0, 700, 300};
  const std::string own = viz::duration_text(41'400), slower = viz::duration_text(84'800);
  CHECK(find(drawn(*viz::make_panel("timeline"), scene, area), own));
  scene.beside = {large->capture.get(), large->capture->end_tick()};
  const RecordingCanvas canvas = drawn(*viz::make_panel("timeline"), scene, area);
  CHECK(find(canvas, slower));
  CHECK_FALSE(find(canvas, own));
}

TEST_CASE("timeline: a run whose legend stands beside it has bars of the same height") {
  const auto run = run_of(kLong);
  viz::Scene scene = scene_at(*run->capture, run->capture->end_tick());
  const viz::Rect area{0, 0, 460, 90};
  const auto top_and_zero = [&](viz::LegendRoom room) {
    scene.legend = room;
    const auto canvas = drawn(*viz::make_panel("timeline"), scene, area);
    const auto* const top = find(canvas, viz::duration_text(84'800));
    const auto* const zero = find(canvas, "0");
    REQUIRE(top);
    REQUIRE(zero);
    CHECK((find(canvas, "forward") != nullptr) == (room != viz::LegendRoom::kNone));
    return std::pair(top->box.y, zero->box.y);
  };
  CHECK(top_and_zero(viz::LegendRoom::kNone) == top_and_zero(viz::LegendRoom::kRow));
}

TEST_CASE("memory: the curves of two runs reach as high as they are, on one axis") {
  const auto small = run_of(kShort), large = run_of(kLong);
  viz::Scene scene = scene_at(*small->capture, small->capture->end_tick());
  const viz::Rect area{0, 0, 700, 400};
  CHECK_FALSE(find(drawn(*viz::make_panel("memory"), scene, area), "1500"));
  scene.beside = {large->capture.get(), large->capture->end_tick()};
  CHECK(find(drawn(*viz::make_panel("memory"), scene, area), "1500"));
  CHECK(find(drawn(*viz::make_panel("memory"), scene, area), "12"));  // steps
}

TEST_CASE("memory: compared plots have one height, whatever stands above them") {
  // A draft head's run says more above its plot than a run without a drafter.
  const Capture &one = two_owner_capture(), &two = beam_capture();
  const auto axis = [&](const Capture& run, const Capture& other, bool export_mode, float width) {
    viz::Scene scene = scene_at(run, run.end_tick());
    scene.export_mode = export_mode;
    scene.beside = {&other, other.end_tick()};
    const auto canvas = drawn(*viz::make_panel("memory"), scene, {0, 0, width, 400});
    float top = 1e9f, bottom = 0;
    for (const std::string& call : canvas.calls) {
      float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
      if (std::sscanf(call.c_str(), "push_clip %f %f %f %f", &x0, &y0, &x1, &y1) != 4) continue;
      top = std::min(top, y0);
      bottom = std::max(bottom, y0 + y1);
    }
    REQUIRE(bottom > 0);
    return std::pair(top, bottom);
  };
  for (const bool export_mode : {false, true})
    for (const float width : {420.0f, 700.0f})
      CHECK(axis(one, two, export_mode, width) == axis(two, one, export_mode, width));
}

TEST_CASE("timeline: the mark of a difference leaves the label of a cut bar readable") {
  auto opened = make_capture([](Recorder& out) {
    RowTables rows{.run = synthetic_info(3, "greedy", "", "recycle")};
    for (std::int32_t step = 0; step < 14; ++step) {
      rows.steps.push_back({.step = step, .forward_rows = 1, .emitted = 1});
      rows.phases.push_back(
          {.tick = make_tick(step, Phase::kForward), .duration_us = step == 4 ? 141'000 : 2000});
    }
    out.write(rows);
  });
  viz::Twins twins;
  twins.parting_node = 0;
  twins.parting_step = 4;
  viz::Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  scene.twins = &twins;
  const RecordingCanvas canvas = drawn(*viz::make_panel("timeline"), scene, {0, 0, 700, 200});
  const auto* const label = find(canvas, "141 ms");
  REQUIRE(label);
  char color[16];
  const viz::Color difference = scene.theme.difference;
  std::snprintf(color, sizeof color, " %02x%02x%02xff", difference.r, difference.g, difference.b);
  int strokes = 0;
  for (const std::string& call : canvas.calls) {
    float ax = 0, ay = 0, bx = 0, by = 0;
    if (!call.ends_with(color) ||
        std::sscanf(call.c_str(), "line %f %f %f %f", &ax, &ay, &bx, &by) != 4)
      continue;
    ++strokes;
    const bool beside =
        std::max(ax, bx) < label->box.x || std::min(ax, bx) > label->box.x + label->box.w;
    CHECK((beside || std::min(ay, by) >= label->box.y + label->box.h - 1));
  }
  CHECK(strokes > 0);
}

TEST_CASE(
    "shared axes: a run that was timed while a window drew says so where its times are shown") {
  Shape shape = kShort;
  for (const bool timed : {false, true}) {
    shape.timed = timed;
    const auto opened = run_of(shape);
    CHECK(opened->capture->run().timed_while_drawing == timed);
    const viz::Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
    for (const char* name : {"timeline", "inspector"})
      for (const float height : {90.0f, 400.0f}) {
        if (std::string(name) == "inspector" && height < 400) continue;  // it scrolls
        CAPTURE(name);
        CAPTURE(height);
        const RecordingCanvas canvas = drawn(*viz::make_panel(name), scene, {0, 0, 1200, height});
        CHECK((find(canvas, viz::kTimedWhileDrawing) != nullptr) == timed);
      }
  }
}

}  // namespace
}  // namespace triescope::test::test_shared_axes
