// The panels' texts under the mouse, word by word.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/two_owners.h"
#include "viz/draw/node_text.h"

namespace triescope::viz::test_tooltips {
namespace {

using capture::Phase;
using test::drawn;
using test::find;
using test::mouse_at;
using test::mouse_over;
using test::RecordingCanvas;
using test::scene_at;
using Lines = std::vector<std::string>;

Scene after_step_1() {
  return scene_at(test::two_owner_capture(), capture::make_tick(2, Phase::kDraft));
}

constexpr Rect kArea{0, 0, 600, 300};

// The panel's answers along a row of points, without repetitions.
std::vector<Lines> tooltips(const std::string& name, const Scene& scene, float y,
                            Rect area = kArea) {
  const auto panel = make_panel(name);
  drawn(*panel, scene, area);
  std::vector<Lines> found;
  for (float x = area.x; x < area.right(); x += 2) {
    const Input in = mouse_at({x, y});
    const Lines lines = panel->input(in, area, scene).tooltip;
    if (!lines.empty() && (found.empty() || found.back() != lines)) found.push_back(lines);
  }
  return found;
}
Reaction over(const std::string& name, const Scene& scene, const std::string& text) {
  const auto panel = make_panel(name);
  const RecordingCanvas canvas = drawn(*panel, scene, kArea);
  const auto* const found = find(canvas, text);
  REQUIRE_MESSAGE(found, text);
  return panel->input(mouse_over(*found), kArea, scene);
}

TEST_CASE("timeline: a step's phases, and how many rows and tokens, one or more") {
  const auto opened = test::make_capture([](test::Recorder& out) {
    using namespace test;
    out.write({.run = synthetic_info(4, "greedy", "Greedy decoding", "recycle")});
    out.write({.phases = {{.tick = 0, .duration_us = 250},
                          {.tick = make_tick(0, Phase::kForward), .duration_us = 1500},
                          {.tick = make_tick(1, Phase::kForward), .duration_us = 2000000}}});
    out.write({.steps = {{.step = 0, .forward_rows = 4, .emitted = 0},
                         {.step = 1, .forward_rows = 1, .emitted = 1}}});
    out.write({.finish = Finish{RunStatus::kDone, ""}});
  });
  const Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  CHECK(
      tooltips("timeline", scene, 60, {0, 0, 600, 120}) ==
      std::vector<Lines>{{"step 0", "draft  250 µs", "forward  1.5 ms", "4 rows, 0 tokens emitted"},
                         {"step 1", "forward  2.00 s", "1 row, 1 token emitted"}});
}

TEST_CASE("timeline: where breakpoints stopped the run, and where they will, is told") {
  Scene scene = after_step_1();
  const std::vector<BreakMark> marks = {{capture::make_tick(1, Phase::kDraft), "a beam is pruned"},
                                        {capture::make_tick(2, Phase::kDraft), "step = 1", false}};
  const auto plain = drawn(*make_panel("timeline"), scene, {0, 0, 600, 120});
  scene.breaks = marks;
  const auto panel = make_panel("timeline");
  const auto marked = drawn(*panel, scene, {0, 0, 600, 120});
  const auto count = [](const RecordingCanvas& canvas, const std::string& call) {
    return std::ranges::count_if(
        canvas.calls, [&](const std::string& one) { return one.starts_with(call + " "); });
  };
  CHECK(count(marked, "fill_circle") == count(plain, "fill_circle") + 1);
  CHECK(count(marked, "stroke_circle") == count(plain, "stroke_circle") + 1);
  CHECK(count(marked, "line") == count(plain, "line") + 2);
  std::set<std::string> said;
  for (float x = 0; x < 600; x += 2)
    for (const std::string& line : panel->input(mouse_at({x, 60}), {0, 0, 600, 120}, scene).tooltip)
      if (line.find(" here: ") != std::string::npos) said.insert(line);
  CHECK(said ==
        std::set<std::string>{"● stopped here: a beam is pruned", "○ will stop here: step = 1"});
}

TEST_CASE("timeline: no bar is cut for a little more than the scale shows") {
  // Of twelve steps of 10 ms, one is longer: up to 1.6 times the scale it stays whole, beyond that
  // it is cut and labelled.
  const auto labels = [](std::int64_t prefill_us, std::int64_t slow_us) {
    const auto opened = test::make_capture([&](test::Recorder& out) {
      using namespace test;
      out.write({.run = synthetic_info(4, "greedy", "Greedy decoding", "recycle")});
      for (int step = 0; step < 13; ++step) {
        const std::int64_t us = step == 0 ? prefill_us : step == 5 ? slow_us : 10000;
        out.write({.phases = {{.tick = make_tick(step, Phase::kForward), .duration_us = us}}});
        out.write({.steps = {{.step = step, .forward_rows = 1, .emitted = 1}}});
      }
      out.write({.finish = Finish{RunStatus::kDone, ""}});
    });
    const auto canvas =
        drawn(*make_panel("timeline"), scene_at(*opened->capture, opened->capture->end_tick()),
              {0, 0, 900, 160});
    std::vector<std::string> found;
    for (const auto& text : canvas.texts)
      if (text.text.ends_with(" ms")) found.push_back(text.text);
    return found;
  };
  CHECK(labels(10000, 10000) == Lines{"10.0 ms"});             // the scale alone
  CHECK(labels(31000, 10000) == Lines{"10.0 ms", "31.0 ms"});  // three times as long: cut
  CHECK(labels(12800, 10000) == Lines{"12.8 ms"});             // 28 % more: the scale takes it in
  CHECK(labels(10000, 28000) == Lines{"28.0 ms"});             // 2.8 of the median, 1.12 of 2.5
  CHECK(labels(10000, 90000) == Lines{"25.0 ms", "90.0 ms"});
}

TEST_CASE("memory: a step's figures with their formulas") {
  const auto found = tooltips("memory", after_step_1(), 150);
  REQUIRE(found.size() == 2);
  CHECK(found[0][0] == "step 0");
  CHECK(found[1] == Lines{"step 1", "live 6 tokens × 2.05 KB = 12.3 KB",
                          "at most 7 slots held within the step, after forward",
                          "garbage 0, reserved 8", "greedy = prompt + generated = 6",
                          "copied in this step: 0 slots = 0 B"});
}

TEST_CASE("kv: a slot says its state, its node and what it costs") {
  const Scene scene = after_step_1();
  const Reaction live = over("kv", scene, "4"), freed = over("kv", scene, "5"),
                 reserved = over("kv", scene, "7");
  CHECK(live.hover == 2);
  CHECK(live.tooltip == Lines{"slot 4, live", "node 2  ,  position 4  slot 4",
                              "one slot = K and V of one position in every layer = 2.05 KB"});
  CHECK(freed.hover == -1);
  CHECK(freed.tooltip == Lines{"slot 5, free", live.tooltip[2]});
  CHECK(reserved.hover == -1);
  CHECK(reserved.tooltip == Lines{"slot 7, reserved, never used", live.tooltip[2]});
}

TEST_CASE("positions: both numbers of a row with their formulas, and who shares it") {
  const Scene scene = after_step_1();
  const Reaction shared = over("positions", scene, node_text(scene, 3, 14));
  CHECK(shared.hover == 3);
  CHECK(shared.tooltip ==
        Lines{"node 3  ·a  position 4", "position = prompt tokens + depth − 1 = 3 + 2 − 1 = 4",
              "sequential ID = tokens in the cache + row = 5", "2 inputs share this position"});
  const Reaction alone = over("positions", scene, node_text(scene, 1, 14));
  CHECK(alone.tooltip.size() == 3);
}

TEST_CASE("mask: a cell says whether its row sees its column, and why") {
  const Scene scene = after_step_1();
  const auto panel = make_panel("mask");
  const RecordingCanvas canvas = drawn(*panel, scene, kArea);
  float x = -1, y = -1;  // of column 2 and row 3
  for (const auto& text : canvas.texts) {
    if (text.text == node_text(scene, 2, 10) && text.box.x > 160) x = text.box.x + 2;
    if (text.text == node_text(scene, 3, 14) && text.box.x < 130) y = text.box.y + 2;
  }
  REQUIRE(x > 0);
  REQUIRE(y > 0);
  const Input in = mouse_at({x, y});
  const Reaction reaction = panel->input(in, kArea, scene);
  CHECK(reaction.hover == 2);
  CHECK(reaction.tooltip == Lines{"row 2: node 3  ·a  position 4",
                                  "column: node 2  ,  position 4  slot 4",
                                  "not visible: not an ancestor of the row, or outside the sliding "
                                  "window",
                                  "visible(i) = prompt + ancestors(i) + i"});
}

TEST_CASE("candidates: a token's formulas, and a click on one that became a child goes there") {
  Scene scene = after_step_1();
  scene.focus.locked = 1;
  const auto panel = make_panel("candidates");
  const RecordingCanvas canvas = drawn(*panel, scene, kArea);
  for (const auto& text : canvas.texts) {
    if (text.text != "0.7500") continue;
    Input in = mouse_at({text.box.x, text.box.y + 3});
    in.clicked = true;
    const Reaction reaction = panel->input(in, kArea, scene);
    CHECK(reaction.lock == 2);
    Lines expected = {"token 6  ,", "rank 1", "log p = logit − logsumexp(logits) = -0.288",
                      "p = exp(log p) = 0.750000", "draft model: rank 1, 0.500000"};
    // In lecture mode, and in pictures for others, no key decodes on.
    scene.series = true;
    CHECK(panel->input(in, kArea, scene).tooltip == expected);
    expected.push_back("Ctrl+I: decode on with another token");
    CHECK(reaction.tooltip == expected);
    return;
  }
  FAIL("the candidate is not drawn");
}

TEST_CASE("verdict: a step's margin is its smallest gap, and counts in its tenth") {
  const auto opened = test::make_capture([](test::Recorder& out) {
    using namespace test;
    out.write({.run = synthetic_info(3, "beam", "Trie beam search", "recycle")});
    out.write({.nodes = {{.node = 0}, {.node = 1, .parent = 0, .token = 5, .depth = 1}}});
    const std::vector<std::vector<float>> gaps = {{}, {0.5f, 0.25f}, {2.55f}, {3.0f}, {7.25f}};
    for (std::int32_t step = 0; step < 5; ++step) {
      const Tick tick = make_tick(step, Phase::kAccept);
      for (const float gap : gaps[static_cast<std::size_t>(step)])
        out.write(
            {.verdicts = {
                 {.tick = tick, .node = 1, .verdict = Verdict::kKept, .rank = 0, .gap = gap}}});
      out.write({.phases = {{.tick = tick}}});
      out.write({.steps = {{.step = step, .frontier = 1}}});
    }
    out.write({.finish = Finish{RunStatus::kDone, ""}});
  });
  const Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  const std::string margin =
      "margin = min over kept beams of Σ log p − best Σ log p that was cut = ";
  const std::string with = "1 step with a margin of ", next = "click: the next of them";
  const auto found = tooltips("verdict", scene, 340, {0, 0, 800, 400});
  CHECK(found == std::vector<Lines>{{"step 1", margin + "0.250"},
                                    {"step 2", margin + "2.550"},
                                    {"step 3", margin + "3.000"},
                                    {"step 4", margin + "7.250"},
                                    {with + "0.2 to 0.3", next},
                                    {with + "2.5 to 2.6", next},
                                    {"2 steps with a margin of 3.0 or more", next}});
  // The axis says so too: its last bin is open.
  const auto panel = make_panel("verdict");
  const RecordingCanvas canvas = drawn(*panel, scene, {0, 0, 800, 400});
  CHECK(test::find(canvas, "3.0+"));
  CHECK_FALSE(test::find(canvas, "3.0"));
}

}  // namespace
}  // namespace triescope::viz::test_tooltips
