// Each label of an axis stands where its value is: of every chart, the place of a value is worked out from what is
// drawn with that value, a bar or a point of a curve, and the capture's rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/drawn_shapes.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/charts.h"
#include "viz/text/number_text.h"

namespace triescope::test::test_axis_labels {
namespace {

// px = at(0) + slope × value, through two known places.
struct Line {
  double a = 0, b = 0;
  double px(double value) const { return a + b * value; }
};
Line through(double value1, double px1, double value2, double px2) {
  REQUIRE(value1 != value2);
  const double b = (px2 - px1) / (value2 - value1);
  return {px1 - b * value1, b};
}

// Rectangles of these colours, as drawn.
std::vector<viz::Rect> bars_of(const RecordingCanvas& canvas,
                               const std::vector<viz::Color>& colors) {
  std::vector<viz::Rect> bars;
  for (const DrawnRect& rect : rects_of(canvas))
    if (std::ranges::any_of(colors, [&](viz::Color one) { return same_hue(one, rect.color); }))
      bars.push_back(rect.box);
  return bars;
}

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || text.find_first_of("–") == 0) return std::nullopt;
  return number;
}

// Labels below `bottom` that are numbers: each with its middle on its value.
int check_below(const RecordingCanvas& canvas, float bottom, float depth, const Line& x) {
  int seen = 0;
  for (const auto& text : canvas.texts) {
    const auto value = number_in(text.text);
    if (!value || text.box.y < bottom || text.box.y > bottom + depth) continue;
    CAPTURE(text.text);
    CHECK(middle_x(text) == doctest::Approx(x.px(*value)).epsilon(0.001));
    ++seen;
  }
  return seen;
}
// Labels that end before `left`.
int check_beside(const RecordingCanvas& canvas, float left, float top, float bottom,
                 const Line& y) {
  int seen = 0;
  for (const auto& text : canvas.texts) {
    const auto value = number_in(text.text);
    if (!value || text.box.right() > left || middle_y(text) < top - 1 ||
        middle_y(text) > bottom + 1)
      continue;
    CAPTURE(text.text);
    CHECK(std::abs(middle_y(text) - y.px(*value)) < 0.6);
    ++seen;
  }
  return seen;
}

const std::vector<viz::Rect> kAreas = {
    {0, 0, 1200, 600}, {0, 0, 900, 240}, {10, 20, 420, 300}, {0, 0, 300, 200}};

TEST_CASE("timeline: both labels of the times and those of the steps stand at their values") {
  for (const int steps : {3, 12, 40, 150}) {
    CAPTURE(steps);
    const auto opened = make_capture([&](Recorder& out) {
      RowTables rows{.run = synthetic_info(3, "greedy", "", "recycle")};
      for (std::int32_t i = 0; i < steps; ++i) {
        rows.steps.push_back({.step = i, .forward_rows = 1, .emitted = 1});
        rows.phases.push_back(
            {.tick = make_tick(i, Phase::kForward), .duration_us = 1000 + (i % 5) * 500});
      }
      out.write(rows);
    });
    const Capture& run = *opened->capture;
    const viz::Scene scene = scene_at(run, run.end_tick());
    for (const viz::Rect area : kAreas) {
      CAPTURE(area.w);
      const auto canvas = drawn(*viz::make_panel("timeline"), scene, area);
      auto bars = bars_of(canvas, {scene.theme.series(0)});
      const float bottom = std::ranges::max(bars, {}, &viz::Rect::bottom).bottom();
      std::erase_if(bars,
                    [&](const viz::Rect& bar) { return bar.bottom() < bottom; });  // the legend's
      REQUIRE(bars.size() == static_cast<std::size_t>(steps));
      const auto us = [&](std::size_t i) { return 1000.0 + static_cast<double>(i % 5) * 500; };
      const Line y = through(0, bottom, us(0), bars[0].y);
      for (std::size_t i = 0; i < bars.size(); ++i) CHECK(std::abs(bars[i].y - y.px(us(i))) < 0.6);
      double most = 0;
      for (std::size_t i = 0; i < bars.size(); ++i) most = std::max(most, us(i));
      const auto* const top = find(canvas, viz::duration_text(most));
      REQUIRE(top);
      CHECK(std::abs(middle_y(*top) - y.px(most)) < 0.6);
      for (const auto& text : canvas.texts)
        if (text.text == "0" && text.box.right() < bars[0].x)
          CHECK(std::abs(middle_y(text) - bottom) < 0.6);
      if (bars[0].w < 2) continue;  // bars stand at whole px, not at the middle of their steps
      const auto middle = [&](std::size_t i) { return bars[i].x + bars[i].w / 2; };
      const Line x = through(0, middle(0), steps - 1, middle(bars.size() - 1));
      CHECK(check_below(canvas, bottom, scene.em * 1.5f, x) >= 2);
    }
  }
}

TEST_CASE("timeline: a run without times has words in place of an axis of times") {
  for (const int time : {0, 3}) {
    CAPTURE(time);
    const auto opened = make_capture([&](Recorder& out) {
      RowTables rows{.run = synthetic_info(3, "greedy", "", "recycle")};
      for (std::int32_t i = 0; i < 12; ++i) {
        rows.steps.push_back({.step = i, .forward_rows = 1, .emitted = 1});
        rows.phases.push_back(
            {.tick = make_tick(i, Phase::kForward), .duration_us = i == 7 ? time : 0});
      }
      out.write(rows);
    });
    const Capture& run = *opened->capture;
    const viz::Scene scene = scene_at(run, run.end_tick());
    for (const viz::Rect area : kAreas) {
      CAPTURE(area.w);
      const auto panel = viz::make_panel("timeline");
      const auto canvas = drawn(*panel, scene, area);
      const bool says_none = find(canvas, "No times were recorded.") != nullptr;
      CHECK(says_none == (time == 0));
      bool has_axis = false;
      for (const auto& text : canvas.texts)
        has_axis |= text.text == viz::duration_text(1) || text.text == viz::duration_text(3);
      CHECK(has_axis == (time > 0));
      CHECK((find(canvas, "forward") != nullptr || find(canvas, "for") != nullptr) == (time > 0));
      viz::Input in;
      in.inside = true;
      in.mouse = {area.x + area.w * 0.4f, area.bottom() - scene.em * 2.5f};
      const auto told = panel->input(in, area, scene).tooltip;
      REQUIRE_FALSE(told.empty());
      for (const std::string& line : told)
        CHECK((time > 0 || line.find("µs") == std::string::npos));
    }
  }
}

// Memory rows whose live count is known at every step.
std::unique_ptr<OpenedCapture> held(int steps, std::int32_t each) {
  return make_capture([&](Recorder& out) {
    RowTables rows{.run = synthetic_info(3, "greedy", "", "recycle")};
    for (std::int32_t i = 0; i < steps; ++i) {
      rows.steps.push_back({.step = i, .forward_rows = 1, .emitted = 1});
      rows.phases.push_back({.tick = make_tick(i, Phase::kForward), .duration_us = 1000});
      rows.memory.push_back({.step = i, .live = 10 + each * i, .reserved = 10 + each * steps});
    }
    out.write(rows);
  });
}

TEST_CASE("memory: tokens, bytes and steps stand at their values") {
  for (const auto& [steps, each] : {std::pair{4, 1}, std::pair{24, 7}, std::pair{160, 33}}) {
    CAPTURE(steps);
    const auto opened = held(steps, each);
    const Capture& run = *opened->capture;
    const viz::Scene scene = scene_at(run, run.end_tick());
    const auto per_token = static_cast<double>(run.run().kv_bytes_per_token);
    for (const viz::Rect area : kAreas) {
      CAPTURE(area.w);
      const auto canvas = drawn(*viz::make_panel("memory"), scene, area);
      // The thickest curve is that of what is live; its ends are the first and the last step.
      std::optional<Line> x, y;
      float left = 0, bottom = 0;
      for (const std::string& call : canvas.calls) {
        const auto n = numbers_of(call);
        if (!call.starts_with("polyline ") || n.size() < 6 || std::abs(n[0] - 2.4f) > 0.01f)
          continue;
        x = through(0, n[2], steps - 1, n[n.size() - 2]);
        y = through(10, n[3], 10 + each * (steps - 1), n.back());
        left = n[2];
        bottom = static_cast<float>(y->px(0));
      }
      if (!x) continue;  // too low for a plot
      CHECK(check_below(canvas, bottom, scene.em * 1.4f, *x) >= 1);
      CHECK(check_beside(canvas, left, 0, bottom, *y) >= 2);
      if (per_token <= 0) continue;
      static const std::map<std::string, double> kUnits = {
          {" B", 1}, {" KB", 1e3}, {" MB", 1e6}, {" GB", 1e9}};
      for (const auto& text : canvas.texts) {
        const auto space = text.text.find(' ');
        if (space == std::string::npos || text.box.x < x->px(steps - 1)) continue;
        const auto number = number_in(text.text.substr(0, space));
        const auto unit = kUnits.find(text.text.substr(space));
        if (!number || unit == kUnits.end()) continue;
        CAPTURE(text.text);
        CHECK(std::abs(middle_y(text) - y->px(*number * unit->second / per_token)) < 1.2);
      }
    }
  }
}

TEST_CASE("axis labels: accepted drafts by step and how often: labels stand at their bars") {
  const Capture& run = draft_capture();
  viz::Scene scene = scene_at(run, run.end_tick());
  scene.export_mode = true;
  std::vector<std::pair<int, int>> accepted;  // step, drafts
  std::map<int, int> counts;
  for (const StepRow& row : run.steps())
    if (row.step > 0) {
      accepted.emplace_back(row.step, row.accepted);
      ++counts[row.accepted];
    }
  for (const viz::Rect area : {viz::Rect{0, 0, 900, 400}, viz::Rect{0, 0, 400, 300}}) {
    CAPTURE(area.w);
    {
      const auto canvas = drawn(*viz::make_picture("acceptance-by-step"), scene, area);
      const auto bars = bars_of(canvas, {scene.theme.mark(NodeState::kAccepted).color,
                                         scene.theme.mark(NodeState::kRejected).color});
      REQUIRE(bars.size() == accepted.size());
      const auto middle = [&](std::size_t i) { return bars[i].x + bars[i].w / 2; };
      const Line x = through(accepted.front().first, middle(0), accepted.back().first,
                             middle(bars.size() - 1));
      std::size_t tall = 0;
      for (std::size_t i = 0; i < bars.size(); ++i)
        if (accepted[i].second > accepted[tall].second) tall = i;
      const float bottom = bars[tall].bottom();
      const Line y = through(0, bottom, accepted[tall].second, bars[tall].y);
      CHECK(check_below(canvas, bottom, scene.em * 1.4f, x) >= 2);
      CHECK(check_beside(canvas, static_cast<float>(x.px(accepted.front().first - 0.5)) + 1,
                         bars[tall].y, bottom, y) >= 2);
    }
    const auto canvas = drawn(*viz::make_picture("acceptance"), scene, area);
    const auto bars = bars_of(canvas, {scene.theme.series(3)});
    REQUIRE(bars.size() == counts.size());
    std::size_t i = 0;
    const auto middle = [&](std::size_t bar) { return bars[bar].x + bars[bar].w / 2; };
    REQUIRE(counts.size() > 1);
    const Line x =
        through(counts.begin()->first, middle(0), counts.rbegin()->first, middle(bars.size() - 1));
    CHECK(check_below(canvas, bars[0].bottom(), scene.em * 1.4f, x) >= 2);
    // Heights are counts, and each count stands above its bar.
    const Line y = through(0, bars[0].bottom(), counts.begin()->second, bars[0].y);
    for (const auto& [drafts, count] : counts) {
      CHECK(std::abs(bars[i].y - y.px(count)) < 0.6);
      CHECK(std::ranges::any_of(canvas.texts, [&, at = i](const auto& text) {
        return text.text == std::to_string(count) && std::abs(middle_x(text) - middle(at)) < 0.6 &&
               text.box.bottom() < bars[at].y + 2;
      }));
      ++i;
    }
  }
}

TEST_CASE("margins at the cut: labels stand at their values, also those smaller than a tenth") {
  for (const float most : {0.04f, 0.1f, 0.37f, 0.9f, 2.6f}) {
    CAPTURE(most);
    const auto opened = make_capture([&](Recorder& out) {
      RowTables rows{.run = synthetic_info(3, "beam", "", "recycle")};
      rows.nodes = {{}};
      for (std::int32_t i = 0; i < 9; ++i) {
        rows.steps.push_back({.step = i, .forward_rows = 1, .emitted = 1});
        rows.phases.push_back({.tick = make_tick(i, Phase::kAccept), .duration_us = 1000});
        if (i == 0) continue;
        rows.nodes.push_back({.node = i,
                              .parent = i - 1,
                              .token = 5,
                              .depth = i,
                              .source = Source::kBeam,
                              .tick = make_tick(i, Phase::kAccept)});
        rows.verdicts.push_back({.tick = make_tick(i, Phase::kAccept),
                                 .node = i,
                                 .verdict = Verdict::kKept,
                                 .gap = most * static_cast<float>(i) / 8});
      }
      out.write(rows);
    });
    viz::Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
    scene.export_mode = true;
    const auto canvas = drawn(*viz::make_picture("margins-by-step"), scene, {0, 0, 900, 400});
    const auto bars = bars_of(canvas, {scene.theme.series(2)});
    REQUIRE(bars.size() == 8);
    const float bottom = bars.back().bottom();
    const Line y = through(0, bottom, static_cast<double>(most), bars.back().y);
    const Line x = through(1, bars[0].x + bars[0].w / 2, 8, bars[7].x + bars[7].w / 2);
    CHECK(check_below(canvas, bottom, scene.em * 1.4f, x) >= 2);
    CHECK(check_beside(canvas, bars[0].x, scene.em * 3, bottom, y) >= 2);
  }
}

TEST_CASE("acceptance by level: labels stand at their bars") {
  const Capture& run = draft_capture();
  viz::Scene scene = scene_at(run, run.end_tick());
  scene.export_mode = true;
  const auto canvas = drawn(*viz::make_picture("acceptance-by-level"), scene, {0, 0, 800, 400});
  const auto bars = bars_of(canvas, {scene.theme.mark(NodeState::kAccepted).color});
  REQUIRE(bars.size() > 1);
  const float bottom = bars[0].bottom();
  const Line x = through(1, bars[0].x + bars[0].w / 2, static_cast<double>(bars.size()),
                         bars.back().x + bars.back().w / 2);
  int levels = 0;
  for (const auto& text : canvas.texts) {
    const auto value = number_in(text.text);
    if (!value || text.box.y < bottom || text.box.y > bottom + scene.em) continue;
    CHECK(std::abs(middle_x(text) - x.px(*value)) < 0.6);
    ++levels;
  }
  CHECK(levels == static_cast<int>(bars.size()));
  // "12 of 40" below a bar is its share, and the axis says so.
  std::size_t shares = 0;
  std::optional<Line> y;
  for (const auto& text : canvas.texts) {
    int part = 0, whole = 0;
    if (std::sscanf(text.text.c_str(), "%d of %d", &part, &whole) != 2) continue;
    const auto bar = std::ranges::find_if(bars, [&](const viz::Rect& one) {
      return std::abs(one.x + one.w / 2 - middle_x(text)) < 1;
    });
    REQUIRE(bar != bars.end());
    if (part == 0) continue;
    const Line own = through(0, bottom, 100.0 * part / whole, bar->y);
    if (!y) y = own;
    CHECK(own.b == doctest::Approx(y->b).epsilon(0.01));
    ++shares;
  }
  REQUIRE(shares > 0);
  int percents = 0;
  for (const auto& text : canvas.texts) {
    const auto space = text.text.find(" %");
    if (space == std::string::npos || text.box.right() > bars[0].x) continue;
    const auto value = number_in(text.text.substr(0, space));
    if (!value) continue;
    CHECK(std::abs(middle_y(text) - y->px(*value)) < 1);
    ++percents;
  }
  CHECK(percents == 5);
}

TEST_CASE("positions: labels stand above the points of their positions") {
  for (const Capture* const run : {&beam_capture(), &draft_capture()}) {
    const viz::Scene scene = scene_at(*run, run->end_tick() - 5);
    const auto rows = run->inputs(scene.shown_step());
    REQUIRE_FALSE(rows.empty());
    const auto canvas = drawn(*viz::make_panel("positions"), scene, {0, 0, 900, 500});
    // Every row's own point is filled, row by row.
    std::vector<float> points;
    for (const std::string& call : canvas.calls)
      if (call.starts_with("fill_circle "))
        if (const auto n = numbers_of(call); n[1] > scene.em * 3) points.push_back(n[0]);
    REQUIRE(points.size() == rows.size());
    std::optional<Line> x;
    for (std::size_t i = 1; i < rows.size() && !x; ++i)
      if (rows[i].position != rows[0].position)
        x = through(rows[0].position, points[0], rows[i].position, points[i]);
    if (!x) {  // one position: a ghost is another place
      continue;
    }
    int seen = 0;
    for (const auto& text : canvas.texts) {
      const auto value = number_in(text.text);
      if (!value || text.text.find('.') != std::string::npos || middle_x(text) < points[0] - 400)
        continue;
      if (text.box.y > scene.em * 4) continue;
      CHECK(std::abs(middle_x(text) - x->px(*value)) < 0.6);
      ++seen;
    }
    CHECK(seen >= 1);
  }
}

}  // namespace
}  // namespace triescope::test::test_axis_labels
