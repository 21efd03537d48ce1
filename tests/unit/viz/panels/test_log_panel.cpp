// The log: the messages at a cursor, and where a click on one leads.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"

namespace triescope::test::test_log_panel {
namespace {

const Capture& logged() {
  static const auto opened = make_capture([](Recorder& out) {
    out.write({.run = synthetic_info(3, "greedy", "", "recycle"),
               .log = {{.tick = make_tick(1, Phase::kAccept), .level = 1, .text = "first"},
                       {.tick = make_tick(2, Phase::kCommit), .level = 2, .text = "a, \"second\""},
                       {.tick = make_tick(3, Phase::kDraft), .level = 3, .text = "third"}},
               .phases = {{.tick = make_tick(3, Phase::kObserve)}}});
  });
  return *opened->capture;
}

TEST_CASE("log: a message is there once its phase is done") {
  const auto panel = viz::make_panel("log");
  const std::string head = "step,phase,level,text\n", first = "1,accept,info,first\n",
                    second = "2,commit,warning,\"a, \"\"second\"\"\"\n",
                    third = "3,draft,error,third\n";
  const auto csv = [&](Tick cursor) { return panel->csv(scene_at(logged(), cursor)); };
  CHECK(csv(make_tick(1, Phase::kAccept)) == head);
  CHECK(csv(make_tick(1, Phase::kAccept) + 1) == head + first);
  CHECK(csv(make_tick(2, Phase::kCommit)) == head + first);
  CHECK(csv(make_tick(2, Phase::kCommit) + 1) == head + first + second);
  CHECK(csv(20) == head + first + second + third);
}

TEST_CASE("log: the newest message is the last line; a click goes behind what said it") {
  const auto panel = viz::make_panel("log");
  const viz::Rect area{0, 0, 600, 200};
  const viz::Scene scene = scene_at(logged(), 20);
  const auto canvas = drawn(*panel, scene, area);
  const auto *first = find(canvas, "first"), *second = find(canvas, "a, \"second\""),
             *third = find(canvas, "third");
  REQUIRE(first);
  REQUIRE(second);
  REQUIRE(third);
  CHECK(first->box.y < second->box.y);
  CHECK(second->box.y < third->box.y);
  CHECK(find(canvas, "step 1"));
  CHECK(std::any_of(canvas.texts.begin(), canvas.texts.end(),
                    [](const auto& text) { return text.text.starts_with("step 2  warn"); }));
  CHECK(find(canvas, "step 3  error"));
  viz::Input in = mouse_over(*second);
  CHECK_FALSE(panel->input(in, area, scene).cursor);
  in.clicked = true;
  CHECK(panel->input(in, area, scene).cursor == make_tick(2, Phase::kCommit) + 1);
}

}  // namespace
}  // namespace triescope::test::test_log_panel
