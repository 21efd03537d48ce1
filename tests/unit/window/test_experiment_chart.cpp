// The chart of an experiment: bars are as long as the shares that they stand for, and have their
// figures.
#include "app/window/lessons/experiment_chart.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/unit/viz/recording_canvas.h"

namespace triescope::app::test_experiment_chart {
namespace {

// The widths of the bars, in px, in drawing order, without the legend's two samples.
std::vector<float> widths_of(const test::RecordingCanvas& canvas, const std::string& call) {
  std::vector<float> widths;
  for (const std::string& one : canvas.calls) {
    float x = 0, y = 0, w = 0, h = 0;
    if (one.starts_with(call) &&
        std::sscanf(one.c_str() + call.size(), "%f %f %f %f", &x, &y, &w, &h) == 4)
      widths.push_back(w);
  }
  if (!widths.empty()) widths.erase(widths.begin());
  return widths;
}
bool says(const test::RecordingCanvas& canvas, const std::string& text) {
  for (const auto& one : canvas.texts)
    if (one.text == text) return true;
  return false;
}

struct Drawn {
  ExperimentResult result;
  ExperimentChart chart;
  test::RecordingCanvas canvas;
  Drawn() {
    result.counts = {500, 250, 250, 0};
    chart = {.names = {"a", "b", "c", "d"},
             .result = &result,
             .expected = {0.5, 0.5, 0, 0},
             .draws = 1000,
             .theme = viz::dark_theme(),
             .em = 10};
  }
  void draw() { draw_experiment_chart(canvas, {0, 0, 400, experiment_chart_height(chart)}, chart); }
};

TEST_CASE_FIXTURE(Drawn, "experiment chart: bars are as long as the shares, the largest fills") {
  draw();
  const std::vector<float> expected = widths_of(canvas, "stroke_rect"),
                           drawn = widths_of(canvas, "fill_rect");
  REQUIRE(expected.size() == 2);  // a share of 0 has no bar
  REQUIRE(drawn.size() == 3);
  CHECK(expected[0] == expected[1]);
  CHECK(drawn[0] == expected[0]);
  CHECK(drawn[1] == doctest::Approx(drawn[0] / 2).epsilon(0.001));
  CHECK(drawn[2] == doctest::Approx(drawn[0] / 2).epsilon(0.001));
  for (const char* const text :
       {"a", "b", "c", "d", "expected", "drawn", "50.0 %", "25.0 %", "0.0 %"})
    CHECK(says(canvas, text));
  CHECK(canvas.ink.right() <= 400);
  CHECK(canvas.ink.bottom() <= experiment_chart_height(chart));
}

TEST_CASE_FIXTURE(Drawn, "experiment chart: until it is drawn it shows what is expected") {
  chart.result = nullptr;
  draw();
  CHECK(widths_of(canvas, "stroke_rect").size() == 2);
  CHECK(widths_of(canvas, "fill_rect").empty());
  CHECK_FALSE(says(canvas, "25.0 %"));
}

TEST_CASE_FIXTURE(Drawn, "experiment chart: its height is that of its rows") {
  const float all = experiment_chart_height(chart);
  chart.names.resize(3);
  CHECK(all - experiment_chart_height(chart) == doctest::Approx(20));
}

}  // namespace
}  // namespace triescope::app::test_experiment_chart
