// Charts, which only exports draw.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "core/base/error.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/charts.h"

namespace triescope::viz::test_charts {
namespace {

using test::beam_capture;
using test::draft_capture;

Scene chart_scene(const capture::Capture& run) {
  Scene scene = test::scene_at(run, run.end_tick());
  scene.export_mode = true;
  return scene;
}

bool has_text(const test::RecordingCanvas& canvas, const std::string& part) {
  return std::ranges::any_of(
      canvas.texts, [&](const auto& text) { return text.text.find(part) != std::string::npos; });
}

std::vector<std::string> lines_of(const std::string& csv) {
  std::vector<std::string> lines;
  std::istringstream in(csv);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("charts: a name is a panel's or a chart's, and no chart has a place among the panels") {
  for (const std::string& name : picture_names()) CHECK(make_picture(name)->info().name == name);
  for (const std::string& name : chart_names()) {
    CHECK(std::ranges::count(panel_names(), name) == 0);
    CHECK_THROWS_AS(make_panel(name), Error);
  }
  CHECK_THROWS_WITH_AS(make_picture("acceptence"), doctest::Contains("acceptance"), Error);
}

TEST_CASE("charts: each says over how many steps it is, and of what") {
  const struct {
    const char* name;
    const capture::Capture* run;
    const char* axis;
  } cases[] = {{"acceptance", &draft_capture(), "drafts accepted in a step"},
               {"acceptance-by-step", &draft_capture(), "step"},
               {"margins", &beam_capture(), "margin"},
               {"margins-by-step", &beam_capture(), "step"},
               {"levels", &draft_capture(), "by position"}};
  for (const auto& one : cases) {
    CAPTURE(one.name);
    const auto chart = make_picture(one.name);
    Scene scene = chart_scene(*one.run);
    test::RecordingCanvas measure;
    Point size = chart->extent(measure, scene);
    auto canvas = test::drawn(*chart, scene, {0, 0, size.x, size.y});
    CHECK(has_text(canvas, "n = "));
    CHECK(has_text(canvas, one.axis));
    CHECK(lines_of(chart->csv(scene)).size() > 1);
    scene.range = std::pair(4, 9);
    canvas = test::drawn(*chart, scene, {0, 0, size.x, size.y});
    CHECK(has_text(canvas, "(4 to 9)"));
  }
}

TEST_CASE(
    "charts: the histogram counts every step once, and a run without such a thing is told so") {
  const auto chart = make_picture("acceptance");
  const Scene scene = chart_scene(draft_capture());
  const auto rows = lines_of(chart->csv(scene));
  CHECK(rows.front() == "accepted,steps");
  int steps = 0;
  for (std::size_t i = 1; i < rows.size(); ++i)
    steps += std::stoi(rows[i].substr(rows[i].find(',') + 1));
  CHECK(steps == draft_capture().last_step());
  CHECK(has_text(test::drawn(*chart, scene, {0, 0, 500, 300}),
                 "n = " + std::to_string(steps) + " steps"));
  CHECK(lines_of(chart->csv(chart_scene(beam_capture()))).size() == 1);
  CHECK(has_text(test::drawn(*chart, chart_scene(beam_capture()), {0, 0, 900, 300}), "no drafts"));
  CHECK(has_text(test::drawn(*make_picture("margins"), scene, {0, 0, 900, 300}), "no cut"));
}

}  // namespace triescope::viz::test_charts
