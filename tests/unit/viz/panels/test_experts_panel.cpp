// The panel of experts: its figures, its tooltips and clicks, and what it says where there is nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/mixture_run.h"
#include "tests/unit/viz/recording_canvas.h"
#include "viz/panels/panel.h"

namespace triescope::viz::test_experts_panel {
namespace {

using capture::make_tick;
using capture::Phase;
using test::drawn;
using test::mixture_capture;
using test::mouse_at;
using test::RecordingCanvas;
using test::scene_at;

constexpr Rect kArea{0, 0, 900, 480};

Scene end_of(std::int32_t step) {
  return scene_at(mixture_capture(), make_tick(step + 1, Phase::kDraft));
}

std::string all_text(const RecordingCanvas& canvas) {
  std::string all;
  for (const auto& text : canvas.texts) all += text.text + "\n";
  return all;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("experts panel: the headline has the step's rows, experts and bytes") {
  const std::string text = all_text(drawn(*make_panel("experts"), end_of(1), kArea));
  CHECK(says(text, "step 1: 4 rows: 3.0 different experts a layer, one row 2.0"));
  CHECK(says(text, "the forward reads 1.20 KB of weights, one row 1.00 KB (× 1.20)"));
  CHECK(says(text, "layer 0"));
}

TEST_CASE("experts panel: a cell names the rows that go through it, with their weights") {
  const auto panel = make_panel("experts");
  const Scene scene = end_of(1);
  const RecordingCanvas canvas = drawn(*panel, scene, kArea);
  const auto at = [&](const std::string& text) {
    const auto found =
        std::ranges::find_if(canvas.texts, [&](const auto& one) { return one.text == text; });
    REQUIRE(found != canvas.texts.end());
    return found->box;
  };
  const Rect layer = at("layer 0");
  // The numbers of the experts are the last texts before the end that stand in one line.
  const float y = layer.y + layer.h / 2;
  std::string seen;
  for (float x = layer.right(); x < kArea.w; x += 2) {
    const Reaction reaction = panel->input(mouse_at({x, y}), kArea, scene);
    for (const std::string& line : reaction.tooltip) seen += line + "\n";
  }
  CHECK(says(seen, "layer 0, expert 0\nrow 1  t10  weight 0.750"));
  CHECK(says(seen, "layer 0, expert 3\nno row of this step goes through it: it is not read"));
  CHECK(says(seen, "this layer: 3 different experts for 4 rows"));
}

TEST_CASE(
    "experts panel: in a low pane the chart stands beside the grid, and below it in a high one") {
  const auto place = [](const RecordingCanvas& canvas, const std::string& text) {
    const auto found =
        std::ranges::find_if(canvas.texts, [&](const auto& one) { return one.text == text; });
    REQUIRE(found != canvas.texts.end());
    return found->box;
  };
  const float em = end_of(1).em;
  const auto panel = make_panel("experts");
  const RecordingCanvas low = drawn(*panel, end_of(1), {0, 0, em * 60, em * 15.5f});
  const Rect low_layer = place(low, "layer 0"), low_key = place(low, "different experts a layer");
  CHECK(low_key.x > low_layer.right());
  CHECK(low_key.y < low_layer.bottom());
  const RecordingCanvas high = drawn(*panel, end_of(1), {0, 0, em * 60, em * 40});
  CHECK(place(high, "different experts a layer").y > place(high, "expert").bottom());
}

TEST_CASE("experts panel: a bar of the chart leads to its step") {
  const auto panel = make_panel("experts");
  const Scene scene = end_of(2);
  (void)drawn(*panel, scene, kArea);
  std::optional<capture::Tick> went;
  for (float y = 0; y < kArea.h && !went; y += 4)
    for (float x = 0; x < kArea.w && !went; x += 4) {
      Input in = mouse_at({x, y});
      in.clicked = true;
      const Reaction reaction = panel->input(in, kArea, scene);
      if (reaction.cursor) went = reaction.cursor;
    }
  REQUIRE(went);
  CHECK(*went == make_tick(1, Phase::kForward) + 1);
}

TEST_CASE("experts panel: its table has a line for each expert of each row") {
  const std::string csv = make_panel("experts")->csv(end_of(2));
  CHECK(csv ==
        "step,node,layer,expert,weight\n"
        "2,5,0,1,0.75\n2,5,0,3,0.25\n2,5,1,0,0.75\n2,5,1,1,0.25\n");
}

TEST_CASE("experts panel: a model with one MLP a layer is told apart from rows that are missing") {
  const capture::Capture& dense = test::draft_capture();
  CHECK(says(all_text(drawn(*make_panel("experts"), scene_at(dense, dense.end_tick()), kArea)),
             "one MLP in each layer"));
  const auto without = test::make_capture([](capture::Recorder& out) {
    capture::RowTables rows{.run = test::mixture_info()};
    rows.nodes = {{}};
    rows.phases = {{.tick = make_tick(1, Phase::kObserve)}};
    rows.finish = capture::Finish{};
    out.write(rows);
  });
  const std::string text = all_text(drawn(
      *make_panel("experts"), scene_at(*without->capture, without->capture->end_tick()), kArea));
  CHECK(says(text, "--capture-level"));
}

TEST_CASE("experts panel: the inspector lists a node's experts, and the run's") {
  Scene scene = end_of(1);
  scene.focus.locked = 3;
  CHECK(says(make_panel("inspector")->csv(scene), "layer 0: 1 2, layer 1: 0 3"));
  scene.focus.locked = -1;
  CHECK(says(make_panel("inspector")->csv(scene), "experts,2 of 4"));
}

}  // namespace
}  // namespace triescope::viz::test_experts_panel
