// Exact answers of the panels to mouse and keys, and exact figures that they draw.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/two_owners.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/panels/kv_range.h"
#include "viz/panels/kv_strip.h"
#include "viz/panels/memory_curves.h"

namespace triescope::viz::test_details {
namespace {

using capture::MemoryRow;
using capture::Phase;
using test::drawn;
using test::find;
using test::mouse_at;
using test::mouse_over;
using test::RecordingCanvas;
using test::scene_at;

constexpr Rect kArea{0, 0, 600, 300};

Scene after_step_1() {
  return scene_at(test::two_owner_capture(), capture::make_tick(2, Phase::kDraft));
}

// The numbers of every call of this name.
std::vector<std::vector<float>> numbers_of(const RecordingCanvas& canvas, const std::string& name) {
  std::vector<std::vector<float>> found;
  for (const std::string& call : canvas.calls) {
    std::istringstream words(call);
    std::string word;
    words >> word;
    if (word != name) continue;
    found.emplace_back();
    while (words >> word) found.back().push_back(std::strtof(word.c_str(), nullptr));
    found.back().pop_back();  // the colour
  }
  return found;
}

TEST_CASE("mask: a small panel's legend lacks no entry, with and without a switch beside it") {
  const Scene one_model = scene_at(test::draft_capture(), capture::make_tick(6, Phase::kDraft));
  for (const Scene& scene : {one_model, after_step_1()})
    for (const float width : {330.0f, 420.0f, 600.0f, 1000.0f})
      for (const float height : {110.0f, 160.0f, 400.0f}) {
        CAPTURE(width);
        CAPTURE(height);
        const auto panel = make_panel("mask");
        const RecordingCanvas canvas = drawn(*panel, scene, {0, 0, width, height});
        for (const char* const entry : {"itself", "ancestor", "not visible"})
          CHECK_MESSAGE(find(canvas, entry), entry);
        // The order's button keeps its word where there is room.
        if (width >= 600) CHECK(find(canvas, "columns: paths"));
      }
}

Input on(Panel& panel, const Scene& scene, const std::string& text, Rect area = kArea) {
  const RecordingCanvas canvas = drawn(panel, scene, area);
  const auto* const found = find(canvas, text);
  REQUIRE_MESSAGE(found, text);
  return mouse_over(*found);
}

// --- timeline ---

constexpr Rect kTimeline{0, 0, 600, 120};

// The x of the timeline's cursor: the middle of its handle.
float cursor_px(Panel& panel, const Scene& scene) {
  const auto polygons = numbers_of(drawn(panel, scene, kTimeline), "fill_polygon");
  REQUIRE_FALSE(polygons.empty());
  const auto& handle = polygons.back();  // width and style come first, where there are any
  return handle[handle.size() - 2];
}

TEST_CASE("timeline: a drag puts the cursor on the nearest phase boundary") {
  const capture::Capture& run = test::two_owner_capture();
  const auto panel = make_panel("timeline");
  const float zero = cursor_px(*panel, scene_at(run, 0)), one = cursor_px(*panel, scene_at(run, 1));
  const float phase = one - zero;
  REQUIRE(phase > 2);
  for (capture::Tick tick = 1; tick < run.end_tick(); ++tick) {
    CAPTURE(tick);
    const Scene scene = scene_at(run, 3);
    drawn(*panel, scene, kTimeline);
    for (const float off : {-0.4f, 0.0f, 0.4f}) {
      Input in = mouse_at({zero + (static_cast<float>(tick) + off) * phase, 60});
      in.dragging = true;
      CHECK(panel->input(in, kTimeline, scene).cursor == tick);
    }
  }
}

TEST_CASE("timeline: Shift-drag selects from where it began, a double click lets go") {
  const capture::Capture& run = test::beam_capture();
  const auto panel = make_panel("timeline");
  const Scene scene = scene_at(run, run.end_tick());
  const float zero = cursor_px(*panel, scene_at(run, 0)),
              step = cursor_px(*panel, scene_at(run, 5)) - zero;
  drawn(*panel, scene, kTimeline);
  using Range = std::pair<std::int32_t, std::int32_t>;
  const auto drag = [&](float to) {
    Input in = mouse_at({zero + to * step, 60});
    in.shift = in.dragging = true;
    return panel->input(in, kTimeline, scene);
  };
  CHECK(drag(4.5f).range == Range{4, 4});
  CHECK(drag(7.2f).range == Range{4, 7});
  CHECK(drag(1.5f).range == Range{1, 4});
  CHECK_FALSE(drag(1.5f).cursor);
  Input released = mouse_at({zero, 60});
  released.released = true;
  CHECK_FALSE(panel->input(released, kTimeline, scene).range);
  // Moves that come all at once count from the press to the release.
  Input fast = mouse_at({zero + 6.2f * step, 60});
  fast.pressed.x = zero + 4.5f * step;
  fast.shift = fast.dragging = fast.released = true;
  CHECK(panel->input(fast, kTimeline, scene).range == Range{4, 6});
  CHECK(drag(2.5f).range == Range{2, 2});
  Input twice = mouse_at({zero, 60});
  twice.double_clicked = true;
  CHECK(panel->input(twice, kTimeline, scene).clear_range);
}

// --- memory ---

TEST_CASE(
    "memory: a click goes to the end of the step, the button stacks, a name hides its curve") {
  const capture::Capture& run = test::beam_capture();
  const Scene scene = scene_at(run, run.end_tick());
  const auto panel = make_panel("memory");
  drawn(*panel, scene, kArea);
  Input in = mouse_at({300, 150});
  const std::string first = panel->input(in, kArea, scene).tooltip.front();
  const int step = std::stoi(first.substr(5));
  REQUIRE(step > 0);
  REQUIRE(step < run.last_step());
  in.clicked = true;
  CHECK(panel->input(in, kArea, scene).cursor == capture::make_tick(step + 1, Phase::kDraft));

  CHECK(panel->view_state() == "lines");
  Input button = on(*panel, scene, "lines");
  button.clicked = true;
  panel->input(button, kArea, scene);
  CHECK(panel->view_state() == "stacked");
  Input again = on(*panel, scene, "stacked");
  again.clicked = true;
  panel->input(again, kArea, scene);
  CHECK(panel->view_state() == "lines");

  const std::string greedy =
      "greedy " + std::to_string(run.memory()[run.memory().size() - 1].greedy);
  Input name = on(*panel, scene, greedy);
  CHECK(panel->input(name, kArea, scene).tooltip ==
        std::vector<std::string>{
            "greedy = prompt + generated: what greedy decoding would hold at this length",
            "click, or the tab's menu: hide or show the curve"});
  name.clicked = true;
  panel->input(name, kArea, scene);
  CHECK(panel->view_state() == "lines;hidden=greedy");
}

TEST_CASE("memory: how far one notch and one key zoom") {
  const capture::Capture& run = test::draft_capture();  // steps 0 to 29
  REQUIRE(run.last_step() == 29);
  const Scene scene = scene_at(run, run.end_tick());
  const auto shown = [&](float notches, bool in_key, bool out_key) {
    const auto panel = make_panel("memory");
    drawn(*panel, scene, kArea);
    // The plot's left and right edges are where tooltips begin and end.
    float left = -1, right = -1;
    for (float x = 0; x < kArea.w; ++x)
      if (panel->input(mouse_at({x, 150}), kArea, scene).tooltip.size() > 2) {
        if (left < 0) left = x;
        right = x;
      }
    Input in = mouse_at({left, 150});
    in.zoom_in = true;  // zoomed in first, to 1.3⁴, so that there is room to zoom out
    for (int i = 0; i < 4; ++i) {
      panel->input(in, kArea, scene);
      drawn(*panel, scene, kArea);
    }
    in.zoom_in = in_key;
    in.zoom_out = out_key;
    in.wheel = notches;
    panel->input(in, kArea, scene);
    drawn(*panel, scene, kArea);
    return panel->input(mouse_at({right, 150}), kArea, scene).tooltip.front();
  };
  // 29 steps / 1.3^4 = 10.15 at first.
  CHECK(shown(0, false, false) == "step 10");
  CHECK(shown(0, true, false) == "step 8");     // 7.81
  CHECK(shown(0, false, true) == "step 13");    // 13.19
  CHECK(shown(2, false, false) == "step 7");    // 7.05
  CHECK(shown(-2, false, false) == "step 15");  // 14.62
}

TEST_CASE("memory curves: which there are, their values, and garbage stacked on live") {
  const std::vector<MemoryRow> one = {{.live = 3, .greedy = 3, .batch_beam = 3}};
  CHECK(memory_curves::curves_of(one) ==
        std::array<bool, 6>{true, false, true, true, false, false});
  const std::vector<MemoryRow> all = {{.live = 3, .greedy = 3, .batch_beam = 9},
                                      {.step = 1,
                                       .live = 3,
                                       .garbage = 1,
                                       .greedy = 4,
                                       .batch_beam = 4,
                                       .device_allocated_bytes = 4096}};
  CHECK(memory_curves::curves_of(all) == std::array<bool, 6>{true, true, true, true, true, true});
  const MemoryRow row{.live = 3,
                      .garbage = 2,
                      .reserved = 8,
                      .greedy = 5,
                      .batch_beam = 15,
                      .device_allocated_bytes = 4096};
  const std::array<double, 6> values = {3, 2, 8, 5, 15, 4};
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(memory_curves::value_of(row, i, 1024) == values[i]);
    CHECK(memory_curves::curve_value(row, i, 1024, false) == values[i]);
    CHECK(memory_curves::curve_value(row, i, 1024, true) == (i == 1 ? 5 : values[i]));
  }
  CHECK(memory_curves::at_step(all, -1).step == 0);
  CHECK(memory_curves::at_step(all, 0).step == 0);
  CHECK(memory_curves::at_step(all, 1).step == 1);
  CHECK(memory_curves::at_step(all, 9).step == 1);
}

TEST_CASE("memory curves: the sentence beside batch beam search") {
  const std::vector<MemoryRow> rows = {
      {.live = 4, .greedy = 4, .batch_beam = 8},
      {.step = 1, .live = 5, .garbage = 1, .greedy = 5, .batch_beam = 24}};
  const auto has = memory_curves::curves_of(rows);
  using memory_curves::Figures;
  CHECK(memory_curves::moment_text(rows[0], Figures::kStep) == "end of step 0");
  CHECK(memory_curves::ratio_text(rows, rows[0], has, 1000, Figures::kStep, 0) ==
        "4.00 KB held, 0.50 × batch beam search's 8.00 KB; peaks 0.25 ×");
  CHECK(memory_curves::moment_text(rows[1], Figures::kStepOutsideRange) ==
        "end of step 1 (outside the range)");
  CHECK(memory_curves::ratio_text(rows, rows[0], has, 1000, Figures::kStepOutsideRange, 0) ==
        "4.00 KB held, 0.50 × batch beam search's 8.00 KB; peaks within the range 0.25 ×");
  CHECK(memory_curves::ratio_text(rows, rows[1], has, 1000, Figures::kWholeRun, 0) ==
        "peak 6.00 KB, 0.25 × batch beam search's 24.0 KB; mean over the steps 0.38 ×");
  CHECK(memory_curves::ratio_text(rows, rows[1], has, 1000, Figures::kEnd, 0) ==
        "the run has ended, its KV is left as garbage: peak 6.00 KB, 0.25 × batch beam search's "
        "peak of 24.0 KB");
  CHECK(memory_curves::ratio_text(rows, rows[0], has, 1000, Figures::kEnd, 0) ==
        "the run has ended and released its KV: peak 6.00 KB, 0.25 × batch beam search's peak of "
        "24.0 KB");
  CHECK(memory_curves::moment_text(rows[0], Figures::kEnd) == "end of step 0, KV released");
  CHECK(memory_curves::moment_text(rows[1], Figures::kEnd) == "end of step 1, KV left as garbage");
  CHECK(memory_curves::ratio_text(rows, rows[0], {}, 1000, Figures::kStep, 0) == "");
  // More was held within a step than at the end of any step.
  CHECK(memory_curves::ratio_text(rows, rows[1], has, 1000, Figures::kWholeRun, 12) ==
        "peak 12.0 KB, 0.50 × batch beam search's 24.0 KB; mean over the steps 0.38 ×");
  CHECK(memory_curves::ratio_text({}, rows[0], has, 1000, Figures::kStepOutsideRange, 0) ==
        "4.00 KB held, 0.50 × batch beam search's 8.00 KB");
}

TEST_CASE("memory: rows are those of the range, in an export those before the cursor") {
  const capture::Capture& run = test::beam_capture();
  const RowSource source;
  Scene scene = scene_at(run, run.end_tick());
  const auto every = source.memory(run);
  REQUIRE(every.size() > 5);
  CHECK(memory_curves::rows_of(source, scene).data() == every.data());  // shown, not copied
  CHECK(memory_curves::rows_of(source, scene).size() == every.size());
  scene.range = {{2, 4}};
  auto rows = memory_curves::rows_of(source, scene);
  REQUIRE(rows.size() == 3);
  CHECK(rows.front().step == 2);
  CHECK(rows.back().step == 4);
  scene.export_mode = true;
  scene.cursor = capture::make_tick(3, Phase::kCommit) + 1;
  CHECK(memory_curves::rows_of(source, scene).back().step == 3);
  --scene.cursor;
  CHECK(memory_curves::rows_of(source, scene).back().step == 2);
  scene.range = {{4, 5}};
  CHECK(memory_curves::rows_of(source, scene).empty());
}

TEST_CASE("memory: an ended run's figures are its peaks, and what it released is no ratio") {
  const capture::Capture& run = test::beam_capture();
  const RowSource source;
  const auto every = source.memory(run);
  MemoryRow last = every.back();
  last.live = static_cast<std::int32_t>(run.run().prompt_tokens.size());
  CHECK(memory_curves::released(last, source, run));
  ++last.live;
  CHECK_FALSE(memory_curves::released(last, source, run));
  MemoryRow earlier = every.front();
  earlier.live = 0;
  CHECK_FALSE(memory_curves::released(earlier, source, run));
  // The mean over the steps leaves out the row whose KV was released.
  std::vector<MemoryRow> ended(every.begin(), every.end());
  ended.back().live = static_cast<std::int32_t>(run.run().prompt_tokens.size());
  CHECK(memory_curves::before_release(ended, source, run).size() == ended.size() - 1);
  ended.back().live += 1;
  CHECK(memory_curves::before_release(ended, source, run).size() == ended.size());
  CHECK(memory_curves::before_release(std::span(ended).first(1), source, run).size() == 1);
}

TEST_CASE("memory curves: of rows on one px the highest and the lowest are drawn") {
  std::vector<MemoryRow> rows;
  for (const int live : {5, 1, 9, 4})
    rows.push_back({.step = static_cast<std::int32_t>(rows.size()), .live = live});
  RecordingCanvas canvas;
  const AxisScale x{0, 8, 0, 1}, y{0, 10, 100, 0};  // all four steps within half a px
  memory_curves::draw_curve(canvas, rows, x, y, 0, 1, Scene{}, false);
  const auto lines = numbers_of(canvas, "polyline");
  REQUIRE(lines.size() == 1);
  REQUIRE(lines[0].size() == 6);  // width, style, two points
  CHECK(lines[0][3] == 90);
  CHECK(lines[0][5] == 10);
}

// --- KV ---

TEST_CASE("kv: what a range held at most counts garbage") {
  const capture::Capture& run = test::beam_capture();
  Scene scene = scene_at(run, run.end_tick());
  int most = 0, live = 0;
  for (const MemoryRow& row : run.memory()) {
    most = std::max(most, row.live + row.garbage);
    live = std::max(live, row.live);
  }
  REQUIRE(most > live);
  scene.range = {{0, run.last_step()}};
  KvRange range;
  range.update(RowSource{}, scene);
  RecordingCanvas canvas;
  const std::string text = range.text(canvas, {}, 1e6f),
                    end = "at most " + std::to_string(most) + " held";
  CHECK(text.substr(text.size() - end.size()) == end);
}

TEST_CASE("kv: of slots that share a cell the focused one is drawn, then live before garbage") {
  const capture::Capture& run = test::beam_capture();
  for (capture::Tick tick = 0; tick < run.end_tick(); ++tick) {
    std::int32_t live = -1, garbage = -1, garbage_node = -1;
    for (std::int32_t slot = 0; slot < run.slot_count_at(tick); ++slot) {
      const capture::SlotView view = run.slot_at(slot, tick);
      if (view.state == capture::SlotState::kLive && view.node > 0 && !view.moved_this_step)
        live = slot;
      if (view.state == capture::SlotState::kGarbage) garbage = slot, garbage_node = view.node;
    }
    if (live < 0 || garbage < 0) continue;
    Scene scene = scene_at(run, tick);
    const auto cell = [&](std::int32_t a, std::int32_t b) {
      KvStrip strip;
      strip.body = {0, 0, 100, 20};
      strip.tick = tick;
      strip.slots = {a, b};
      strip.used = run.slot_count_at(tick);
      strip.grid.width = strip.grid.pitch = 20;
      strip.grid.columns = strip.grid.cells = 1;
      strip.grid.merge = 2;
      RecordingCanvas canvas;
      draw_strip(canvas, RowSource{}, strip, KvRange{}, scene);
      return canvas.calls;
    };
    REQUIRE(cell(live, live) != cell(garbage, garbage));
    CHECK(cell(garbage, live) == cell(live, live));
    CHECK(cell(live, garbage) == cell(live, live));
    scene.focus.locked = garbage_node;
    CHECK(cell(live, garbage) == cell(garbage, garbage));
    return;
  }
  FAIL("the run has no garbage");
}

TEST_CASE("kv: the prompt's band says whether it is shared or copied") {
  for (const auto& [copies, text] : {std::pair{1, "prompt: 3 slots, shared by every path"},
                                     std::pair{2, "prompt: 6 slots, 2 copies of its 3 tokens"}}) {
    const auto opened = test::make_capture([copies = copies](test::Recorder& out) {
      using namespace test;
      out.write({.run = synthetic_info(3, "batch_beam", "Batch beam search", "batch")});
      out.write({.nodes = {{.node = 0}}});
      for (std::int32_t i = 0; i < 3 * copies; ++i)
        out.write({.slots = {{.slot = i, .node = -2 - i % 3}}});
      out.write({.phases = {{.tick = 0}}});
      out.write({.finish = Finish{RunStatus::kDone, ""}});
    });
    CHECK(find(drawn(*make_panel("kv"), scene_at(*opened->capture, 1), kArea), text));
  }
}

TEST_CASE("kv: zooming keeps about the slot under the pointer") {
  const auto opened = test::make_capture([](test::Recorder& out) {
    using namespace test;
    out.write({.run = synthetic_info(1, "greedy", "Greedy decoding", "keep")});
    out.write({.nodes = {{.node = 0}}});
    out.write({.slots = {{.slot = 0, .node = -2}}});
    out.write({.memory = {{.live = 1, .reserved = 600, .greedy = 1, .batch_beam = 1}}});
    out.write({.phases = {{.tick = make_tick(0, Phase::kCommit)}}});
    out.write({.finish = Finish{RunStatus::kDone, ""}});
  });
  const Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  const auto panel = make_panel("kv");
  Input in = mouse_at({300, 200});
  const auto slot = [&] {
    drawn(*panel, scene, kArea);
    const auto tooltip = panel->input(in, kArea, scene).tooltip;
    REQUIRE_FALSE(tooltip.empty());
    return std::stoi(tooltip.front().substr(5));
  };
  const int before = slot();
  REQUIRE(before > 200);
  in.wheel = 1;
  for (int i = 0; i < 4; ++i) slot();
  in.wheel = 0;
  const int zoomed = slot();
  CHECK(zoomed != before);  // the rows are wrapped otherwise
  CHECK(std::abs(zoomed - before) < 60);
  in.fit = true;
  slot();
  in.fit = false;
  CHECK(slot() == before);
}

TEST_CASE("kv: an arrow for every slot that the commit moved, and for no other") {
  const capture::Capture& run = test::beam_capture();
  int steps = 0;
  for (std::int32_t step = 0; step <= run.last_step(); ++step) {
    const Scene scene = scene_at(run, capture::make_tick(step, Phase::kCommit) + 1);
    std::size_t moved = 0;
    for (const capture::SlotRow& row : run.slot_events(step))
      moved += row.action == capture::SlotAction::kMove;
    CAPTURE(step);
    CHECK(numbers_of(drawn(*make_panel("kv"), scene, {0, 0, 1000, 600}), "bezier").size() == moved);
    steps += moved > 4;
    // Before the commit nothing has moved yet.
    CHECK(
        numbers_of(drawn(*make_panel("kv"), scene_at(run, capture::make_tick(step, Phase::kCommit)),
                         {0, 0, 1000, 600}),
                   "bezier")
            .empty());
  }
  CHECK(steps > 0);
}

// --- mask, positions, candidates ---

TEST_CASE("mask: zoomed all the way, columns are as wide as they may be") {
  const capture::Capture& run = test::beam_capture();
  const Scene scene = scene_at(run, run.end_tick());
  const auto panel = make_panel("mask");
  Input in = mouse_at({400, 90});
  in.zoom_in = true;
  for (int i = 0; i < 30; ++i) {
    drawn(*panel, scene, kArea);
    panel->input(in, kArea, scene);
  }
  drawn(*panel, scene, kArea);
  std::vector<float> edges;
  std::string column;
  for (float x = 250; x < 580; x += 0.25f) {
    const auto tooltip = panel->input(mouse_at({x, 90}), kArea, scene).tooltip;
    REQUIRE(tooltip.size() > 1);
    if (!column.empty() && tooltip[1] != column) edges.push_back(x);
    column = tooltip[1];
  }
  REQUIRE(edges.size() > 3);
  for (std::size_t i = 1; i < edges.size(); ++i)
    CHECK(edges[i] - edges[i - 1] == doctest::Approx(scene.em * 3.2f * 1.4f).epsilon(0.01));
}

TEST_CASE("mask: the prompt's band shows the part of it that the sliding window still covers") {
  const auto opened =
      test::make_capture([](test::Recorder& out) { test::record_two_owners(out, 4); });
  const Scene scene = scene_at(*opened->capture, capture::make_tick(2, Phase::kDraft));
  // The share of the prompt that each row sees, by the width of its bar.
  const auto shares = [&](Panel& panel) {
    const RecordingCanvas canvas = drawn(panel, scene, kArea);
    const auto rects = numbers_of(canvas, "fill_rect");
    const auto* const label = find(canvas, "prompt 3");
    REQUIRE(label);
    std::vector<float> found;
    for (std::size_t i = 1; i < rects.size(); ++i) {
      const auto &bar = rects[i - 1], &seen = rects[i];
      // The bar is below the label "prompt 3".
      if (bar[0] > label->box.x || bar[0] + bar[2] < label->box.right() || bar[1] < 30) continue;
      if (bar[1] == seen[1] && seen[0] >= bar[0] - 0.01f &&
          std::abs(seen[0] + seen[2] - bar[0] - bar[2]) < 0.01f)
        found.push_back(seen[2] / bar[2]);
    }
    return found;
  };
  const auto target = make_panel("mask"), draft = make_panel("mask");
  draft->set_view_state("whose=draft");
  const auto of_target = shares(*target), of_draft = shares(*draft);
  REQUIRE(of_target.size() == 4);  // positions 3, 4, 4, 5
  CHECK(of_target[0] == doctest::Approx(1));
  CHECK(of_target[1] == doctest::Approx(2 / 3.0).epsilon(0.01));
  CHECK(of_target[2] == doctest::Approx(2 / 3.0).epsilon(0.01));
  CHECK(of_target[3] == doctest::Approx(1 / 3.0).epsilon(0.01));
  // Only the target has a window.
  REQUIRE(of_draft.size() == 3);
  for (const float share : of_draft) CHECK(share == doctest::Approx(1));
}

TEST_CASE("positions: two inputs that share a position are marked, one alone is not") {
  const RecordingCanvas canvas = drawn(*make_panel("positions"), after_step_1(), kArea);
  const auto sharing = std::count_if(canvas.texts.begin(), canvas.texts.end(), [](const auto& t) {
    return t.text.find("share it") != std::string::npos || t.text.rfind("×", 0) == 0;
  });
  CHECK(sharing == 1);
  CHECK((find(canvas, "2 share it") || find(canvas, "×2")));
}

TEST_CASE("candidates: what is shown adds up, and a node without any shows its parent's") {
  Scene scene = after_step_1();
  scene.focus.locked = 1;
  CHECK(find(drawn(*make_panel("candidates"), scene, kArea),
             "shown: 75.0 % of the probability; ✓ became children"));
  const capture::Capture& run = test::beam_capture();
  scene = scene_at(run, run.end_tick());
  const auto panel = make_panel("candidates");
  const auto node_of = [&] {
    const std::string csv = panel->csv(scene);
    return std::stoi(csv.substr(csv.find('\n') + 1));
  };
  const int best = node_of();
  int seen = 0;
  for (const capture::NodeRow& row : run.nodes()) {
    if (row.node == 0 || !run.candidates(row.node, scene.cursor).empty() ||
        run.candidates(row.parent, scene.cursor).empty() || row.parent == best)
      continue;
    scene.focus.locked = row.node;
    CHECK(node_of() == row.parent);
    ++seen;
  }
  CHECK(seen > 0);
}

// --- text, trie ---

TEST_CASE("text: beams are numbered from 1, best first") {
  const capture::Capture& run = test::beam_capture();
  const RecordingCanvas canvas = drawn(
      *make_panel("text"), scene_at(run, capture::make_tick(3, Phase::kDraft)), {0, 0, 1000, 900});
  std::vector<std::string> beams;
  for (const auto& text : canvas.texts)
    if (text.text.rfind("beam ", 0) == 0) beams.push_back(text.text.substr(0, 6));
  CHECK(beams == std::vector<std::string>{"beam 1", "beam 2", "beam 3"});
}

TEST_CASE("trie: a folded node says how much is not drawn, dead and other, one or more") {
  const auto panel = make_panel("trie");
  panel->set_view_state("mode=auto;zoom=1.000;closed=1;opened=");
  const Scene scene = after_step_1();
  const auto tooltip = panel->input(on(*panel, scene, node_text(scene, 1)), kArea, scene).tooltip;
  REQUIRE(tooltip.size() >= 2);
  CHECK(tooltip[tooltip.size() - 2] == "+1 node on dead branches, not drawn: double-click to open");
  CHECK(tooltip.back() == "+3 nodes folded away: double-click to open");
}

// --- inspector ---

TEST_CASE("inspector: a list longer than a wide panel is high goes on beside itself, in order") {
  const Scene scene = scene_at(test::beam_capture(), test::beam_capture().end_tick());
  const auto seen = [&](Rect area) {
    std::vector<std::string> texts;
    for (const auto& text : drawn(*make_panel("inspector"), scene, area).texts)
      if (text.box.bottom() <= area.bottom() && text.box.y >= area.y) texts.push_back(text.text);
    return texts;
  };
  // The columns are as wide as the narrow panel, so the lines are the same.
  const auto whole = seen({0, 0, 430, 2000}), narrow = seen({0, 0, 430, 200}),
             wide = seen({0, 0, 1290, 200});
  CHECK(narrow.size() < whole.size());
  CHECK(wide.size() > narrow.size());
  REQUIRE(whole.size() >= wide.size());
  // A list that fits in one column stays in one.
  for (const auto& text : drawn(*make_panel("inspector"), scene, {0, 0, 1290, 2000}).texts)
    CHECK(text.box.x < 430);
  for (std::size_t i = 0; i < narrow.size(); ++i) CHECK(wide[i] == whole[i]);
}

// --- the end of a draft ---

TEST_CASE(
    "details: withdrawn drafts are named in the trie's legend, and their verdict says what it means") {
  const auto opened = test::make_capture([](test::Recorder& out) {
    using namespace test;
    out.write({.run = synthetic_info(3, "eagle", "EAGLE", "recycle")});
    out.write({.nodes = {{.node = 0},
                         {.node = 1,
                          .parent = 0,
                          .token = 5,
                          .depth = 1,
                          .source = Source::kDraft,
                          .tick = 5}}});
    out.write({.verdicts = {{.tick = 5, .node = 1, .verdict = Verdict::kWithdrawn}}});
    out.write({.steps = {{.step = 0}, {.step = 1, .drafted = 1}}});
    out.write({.phases = {{.tick = 0}, {.tick = 5}}});
    out.write({.finish = Finish{RunStatus::kDone, ""}});
  });
  const Scene scene = scene_at(*opened->capture, 6);
  CHECK(find(drawn(*make_panel("trie"), scene, kArea), "withdrawn"));
  CHECK(find(drawn(*make_panel("verdict"), scene, kArea),
             "withdrawn: drafted, but not sent to the target"));
  CHECK_FALSE(find(drawn(*make_panel("trie"), scene_at(*opened->capture, 5), kArea), "withdrawn"));
  CHECK_FALSE(find(drawn(*make_panel("trie"), after_step_1(), kArea), "withdrawn"));
}

}  // namespace
}  // namespace triescope::viz::test_details
