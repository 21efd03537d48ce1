// The recorder's name and its own figures, in the timeline, its table and the inspector.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/query/metrics.h"

namespace triescope::test::test_metrics {
namespace {

const Capture& measured() {
  static const auto opened = make_capture([](Recorder& out) {
    const Tick first = make_tick(0, Phase::kAccept), second = make_tick(1, Phase::kAccept),
               third = make_tick(2, Phase::kCommit);
    RowTables rows;
    rows.run = synthetic_info(3, "greedy", "", "recycle");
    rows.programs = {{.name = "my_engine", .version = "2.1", .command = "serve --fast"}};
    rows.nodes = {
        {},
        {.node = 1, .parent = 0, .token = 5, .depth = 1, .source = Source::kGreedy, .tick = first}};
    rows.metrics = {{.tick = first, .node = -1, .name = "entropy", .value = 2.5},
                    {.tick = second, .node = 1, .name = "surprise", .value = 1.0},
                    {.tick = second, .node = -1, .name = "entropy", .value = 1.0},
                    {.tick = second, .node = -1, .name = "entropy", .value = 2.0},
                    {.tick = third, .node = 1, .name = "surprise", .value = 4.0},
                    {.tick = third, .node = -1, .name = "entropy", .value = std::nan("")}};
    for (Tick tick = 0; tick < make_tick(3, Phase::kDraft); ++tick)
      rows.phases.push_back({.tick = tick, .start_us = tick * 10, .duration_us = 10});
    rows.finish = Finish{};
    out.write(rows);
  });
  return *opened->capture;
}

bool says(const RecordingCanvas& canvas, const std::string& part) {
  for (const auto& one : canvas.texts)
    if (one.text.find(part) != std::string::npos) return true;
  return false;
}

TEST_CASE("metrics: a curve a name, per step the mean, and unknown numbers count for nothing") {
  const auto curves = viz::metric_curves(measured());
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].name == "entropy");
  REQUIRE(curves[0].points.size() == 2);
  CHECK(curves[0].at(0)->mean == 2.5);
  CHECK(curves[0].at(1)->mean == 1.5);
  CHECK(curves[0].at(1)->count == 2);
  CHECK_FALSE(curves[0].at(2));
  CHECK(curves[0].low == 1.5);
  CHECK(curves[0].high == 2.5);
  CHECK(curves[1].name == "surprise");
}

TEST_CASE("metrics: the timeline has a curve and an entry of the legend for each name") {
  const auto panel = viz::make_panel("timeline");
  for (const viz::Rect area : {viz::Rect{0, 0, 900, 300}, viz::Rect{0, 0, 900, 100}}) {
    const auto canvas = drawn(*panel, scene_at(measured(), make_tick(2, Phase::kDraft)), area);
    CHECK(says(canvas, "entropy 1.5, the mean of 2 (1.5 to 2.5)"));
    CHECK(says(canvas, "surprise 1 (1)"));  // 4 is still to come
  }
  const auto canvas =
      drawn(*panel, scene_at(measured(), make_tick(3, Phase::kDraft)), {0, 0, 900, 300});
  CHECK(says(canvas, "entropy (1.5 to 2.5)"));
  CHECK(says(canvas, "surprise 4 (1 to 4)"));
  // Before the first row of a figure there is its name alone.
  const auto early =
      drawn(*panel, scene_at(measured(), make_tick(1, Phase::kAccept)), {0, 0, 900, 300});
  CHECK(says(early, "entropy (2.5)"));
  CHECK(find(early, "surprise"));
  const auto lines_of = [](const RecordingCanvas& canvas) {
    return std::ranges::count_if(
        canvas.calls, [](const std::string& call) { return call.starts_with("polyline"); });
  };
  CHECK(lines_of(canvas) == 2);
  // The part behind the cursor is drawn separately and pale.
  CHECK(lines_of(drawn(*panel, scene_at(measured(), make_tick(2, Phase::kDraft)),
                       {0, 0, 900, 300})) == 4);
}

TEST_CASE("metrics: no curve has the colour of a phase, and each its own") {
  const auto panel = viz::make_panel("timeline");
  const viz::Scene scene = scene_at(measured(), make_tick(3, Phase::kDraft));
  const auto canvas = drawn(*panel, scene, {0, 0, 900, 300});
  std::vector<std::string> colors;
  for (const std::string& call : canvas.calls)
    if (call.starts_with("polyline")) colors.push_back(call.substr(call.rfind(' ') + 1));
  REQUIRE(colors.size() == 2);
  CHECK(colors[0] != colors[1]);
  for (const std::string& call : canvas.calls)
    if (call.starts_with("fill_rect"))
      for (const std::string& color : colors)
        CHECK(call.substr(call.rfind(' ') + 1, 6) != color.substr(0, 6));
}

TEST_CASE("metrics: within a step its figure is the mean of what the cursor has seen") {
  const auto opened = make_capture([](Recorder& out) {
    RowTables rows;
    rows.run = synthetic_info(3, "greedy", "", "recycle");
    for (Tick tick = 0; tick < make_tick(2, Phase::kDraft); ++tick)
      rows.phases.push_back({.tick = tick, .start_us = tick * 10, .duration_us = 10});
    rows.metrics = {
        {.tick = make_tick(1, Phase::kDraft), .node = -1, .name = "load", .value = 16777217},
        {.tick = make_tick(1, Phase::kObserve), .node = -1, .name = "load", .value = 1}};
    rows.finish = Finish{};
    out.write(rows);
  });
  const auto timeline = viz::make_panel("timeline"), inspector = viz::make_panel("inspector");
  const auto early = scene_at(*opened->capture, make_tick(1, Phase::kAccept)),
             late = scene_at(*opened->capture, make_tick(2, Phase::kDraft));
  CHECK(inspector->csv(early).find("\nload,1.678e+07,in step 1\n") != std::string::npos);
  CHECK(inspector->csv(late).find("\nload,\"8.389e+06, the mean of 2\",in step 1\n") !=
        std::string::npos);
  // Tables have every digit.
  CHECK(timeline->csv(late).find(",load,,16777217\n") != std::string::npos);
}

TEST_CASE(
    "metrics: the timeline's table has them as rows, and no such columns where a run has none") {
  const auto panel = viz::make_panel("timeline");
  viz::Scene scene = scene_at(measured(), make_tick(3, Phase::kDraft));
  const std::string csv = panel->csv(scene);
  CHECK(csv.starts_with("step,phase,start_us,duration_us,metric,node,value\n0,draft,0,10,,,\n"));
  CHECK(csv.find("\n0,accept,,,entropy,,2.5\n") != std::string::npos);
  CHECK(csv.find("\n1,accept,,,surprise,1,1\n") != std::string::npos);
  CHECK(csv.ends_with("\n2,commit,,,entropy,,\n"));
  scene.range = {0, 0};
  CHECK(panel->csv(scene).find("surprise") == std::string::npos);
  // Values that the cursor has not seen are left out.
  CHECK(panel->csv(scene_at(measured(), make_tick(0, Phase::kAccept))).find("entropy") ==
        std::string::npos);
  CHECK(panel->csv(scene_at(draft_capture(), 0)).starts_with("step,phase,start_us,duration_us\n"));
}

TEST_CASE("inspector: the step's and the node's own figures, and the program that recorded them") {
  const auto panel = viz::make_panel("inspector");
  viz::Scene scene = scene_at(measured(), make_tick(2, Phase::kDraft));
  const std::string run = panel->csv(scene);
  CHECK(run.find("\nprogram,my_engine 2.1,serve --fast\n") != std::string::npos);
  CHECK(run.find("\nentropy,\"1.5, the mean of 2\",in step 1\n") != std::string::npos);
  scene.focus.locked = 1;
  CHECK(panel->csv(scene).find("\nsurprise,1,\"step 1, accept\"\n") != std::string::npos);
  scene.cursor = make_tick(3, Phase::kDraft);
  CHECK(panel->csv(scene).find("\nsurprise,4,\"step 2, commit\"\n") != std::string::npos);
  CHECK(panel->csv(scene).find("entropy") == std::string::npos);
}

TEST_CASE("metrics: a panel without its rows says which are missing, wherever the cursor stands") {
  for (const auto& [name, table] :
       {std::pair{"mask", "input"}, std::pair{"positions", "input"}, std::pair{"kv", "slot"},
        std::pair{"memory", "memory"}, std::pair{"candidates", "candidate"},
        std::pair{"verdict", "verdict"}}) {
    CAPTURE(name);
    const auto panel = viz::make_panel(name);
    for (const Tick cursor : {make_tick(2, Phase::kDraft), make_tick(3, Phase::kDraft)}) {
      const auto canvas = drawn(*panel, scene_at(measured(), cursor), {0, 0, 900, 300});
      CHECK(says(canvas, std::string("The capture has no rows in ") + table));
    }
  }
}

}  // namespace
}  // namespace triescope::test::test_metrics
