#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/doctor/made_run.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"

namespace triescope::test::test_timeline {
namespace {

// Records a run whose steps take these times, all in the forward.
std::unique_ptr<OpenedCapture> timed(const std::vector<std::int64_t>& us) {
  return make_capture([&](Recorder& out) {
    RowTables rows{.run = synthetic_info(3, "greedy", "", "recycle")};
    for (std::size_t i = 0; i < us.size(); ++i) {
      const auto step = static_cast<std::int32_t>(i);
      rows.steps.push_back({.step = step, .forward_rows = 1, .emitted = 1});
      rows.phases.push_back({.tick = make_tick(step, Phase::kForward), .duration_us = us[i]});
    }
    out.write(rows);
  });
}

TEST_CASE("timeline: the scale follows the median of the steps after prefill, not the longest") {
  // Five steps take 1 ms, six 2 ms and one 20 ms: the scale ends at 2.5 times 2 ms.
  const auto opened =
      timed({90'000, 1000, 1000, 1000, 1000, 1000, 2000, 2000, 2000, 2000, 2000, 2000, 20'000});
  const auto panel = viz::make_panel("timeline");
  const auto canvas =
      drawn(*panel, scene_at(*opened->capture, opened->capture->end_tick()), {0, 0, 900, 240});
  CHECK(find(canvas, "5.0 ms"));
  CHECK(find(canvas, "20.0 ms"));  // a cut bar says how long the step was
  CHECK(find(canvas, "90.0 ms"));
}

TEST_CASE("timeline: a step is told under its bar, nothing behind the last") {
  const auto opened = timed({4000, 1000, 3000});
  const Capture& run = *opened->capture;
  const auto panel = viz::make_panel("timeline");
  const viz::Rect area{0, 0, 1400, 240};
  const viz::Scene scene = scene_at(run, run.end_tick());
  drawn(*panel, scene, area);
  std::vector<std::string> told;
  for (float x = 60; x < 1390; x += 5) {
    const auto reaction = panel->input(mouse_at({x, 150}), area, scene);
    const std::string first = reaction.tooltip.empty() ? "" : reaction.tooltip[0];
    if (told.empty() || told.back() != first) told.push_back(first);
    if (first != "step 1") continue;
    CHECK(reaction.tooltip ==
          std::vector<std::string>{"step 1", "forward  1.0 ms", "1 row, 1 token emitted"});
  }
  CHECK(told == std::vector<std::string>{"step 0", "step 1", "step 2", ""});
}

TEST_CASE("timeline: of a step nothing is told that the cursor has not seen") {
  const auto opened = make_capture([](Recorder& out) {
    RowTables rows = made_drafts().rows;
    rows.phases.clear();
    for (Tick tick = 0; tick < make_tick(6, Phase::kDraft); ++tick)
      rows.phases.push_back({.tick = tick, .start_us = tick * 1000, .duration_us = 1000 + tick});
    rows.metrics = {{.tick = make_tick(3, Phase::kAccept), .name = "loss", .value = 7}};
    out.write(rows);
  });
  const Capture& run = *opened->capture;
  const auto panel = viz::make_panel("timeline");
  const viz::Rect area{0, 0, 900, 240};
  const auto told = [&](std::int32_t step, Tick cursor) {
    const viz::Scene scene = scene_at(run, cursor);
    drawn(*panel, scene, area);
    for (float x = 60; x < 890; x += 2) {
      auto lines = panel->input(mouse_at({x, 150}), area, scene).tooltip;
      if (!lines.empty() && lines[0] == "step " + std::to_string(step)) return lines;
    }
    return std::vector<std::string>();
  };
  using Lines = std::vector<std::string>;
  const Tick draft = make_tick(3, Phase::kDraft);
  CHECK(told(3, draft) == Lines{"step 3", "the cursor has not seen this step yet"});
  CHECK(told(3, draft + 1) == Lines{"step 3", "draft  1.0 ms"});
  const std::string rows = std::to_string(run.inputs(3).size()) + " rows";
  CHECK(told(3, draft + 2) == Lines{"step 3", "draft  1.0 ms", "forward  1.0 ms", rows});
  const auto accepted = told(3, draft + 3);
  REQUIRE(accepted.size() == 6);
  CHECK(accepted[4] == rows + ", " + std::to_string(run.step(3)->emitted) + " tokens emitted");
  CHECK(accepted[5] == "loss  7");
  CHECK(told(4, draft + 3)[1] == "the cursor has not seen this step yet");
  CHECK(told(2, draft + 3).back().find("emitted") != std::string::npos);
}

TEST_CASE("timeline: the length of a bar that is cut is told once the step is past") {
  const auto opened = timed(
      {90'000, 1000, 1000, 1000, 1000, 1000, 2000, 2000, 2000, 2000, 2000, 2000, 20'000, 1000});
  const auto panel = viz::make_panel("timeline");
  const auto says = [&](Tick cursor) {
    return find(drawn(*panel, scene_at(*opened->capture, cursor), {0, 0, 900, 240}), "20.0 ms") !=
           nullptr;
  };
  CHECK_FALSE(says(make_tick(12, Phase::kForward)));
  CHECK(says(make_tick(13, Phase::kDraft)));
}

TEST_CASE(
    "timeline: a low pane has its legend and both ends of its axis, a narrow one all phases") {
  const auto opened = timed({4000, 1000, 3000});
  const auto panel = viz::make_panel("timeline");
  const viz::Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  for (const viz::Rect area :
       {viz::Rect{0, 0, 900, scene.em * 5}, viz::Rect{0, 0, 900, scene.em * 6},
        viz::Rect{0, 0, 230, scene.em * 9}}) {
    CAPTURE(area.w);
    CAPTURE(area.h);
    const auto canvas = drawn(*panel, scene, area);
    for (int i = 0; i < capture::kPhaseCount; ++i)
      CHECK(find(canvas, capture::to_string(static_cast<Phase>(i))));
    CHECK(find(canvas, "4.0 ms"));
    CHECK(std::ranges::count_if(canvas.texts, [](const auto& text) { return text.text == "0"; }) ==
          2);  // one of the times' axis, one of the steps'
    for (const auto& text : canvas.texts) CHECK(text.box.bottom() <= area.bottom() + 1);
  }
}

TEST_CASE(
    "timeline: a low and narrow pane, half of a comparison, names the phases by their beginnings") {
  const auto opened = timed({4000, 1000, 3000});
  const auto panel = viz::make_panel("timeline");
  const viz::Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  const auto canvas = drawn(*panel, scene, {0, 0, scene.em * 24, scene.em * 4.5f});
  for (int i = 0; i < capture::kPhaseCount; ++i) {
    const std::string name = capture::to_string(static_cast<Phase>(i));
    CHECK(find(canvas, name.substr(0, 3)));
    CHECK(std::ranges::count(canvas.terms, name) == 1);  // the glossary explains the full name
  }
}

TEST_CASE("timeline: its table holds the phases before the cursor, or those of the range") {
  const auto opened = timed({4000, 1000, 3000, 2000, 5000});
  const auto panel = viz::make_panel("timeline");
  const std::string head = "step,phase,start_us,duration_us\n", zero = "0,forward,0,4000\n",
                    one = "1,forward,0,1000\n", two = "2,forward,0,3000\n",
                    three = "3,forward,0,2000\n";
  viz::Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  CHECK(panel->csv(scene) == head + zero + one + two + three + "4,forward,0,5000\n");
  scene.range = {1, 3};
  CHECK(panel->csv(scene) == head + one + two + three);
  scene.range = {2, 2};
  CHECK(panel->csv(scene) == head + two);
  // The cursor is before the forward of step 2.
  scene.cursor = make_tick(2, Phase::kForward);
  scene.range = {};
  CHECK(panel->csv(scene) == head + zero + one);
  scene.range = {1, 3};
  CHECK(panel->csv(scene) == head + one);
  scene.range = {2, 2};
  CHECK(panel->csv(scene) == head);
}

}  // namespace
}  // namespace triescope::test::test_timeline
