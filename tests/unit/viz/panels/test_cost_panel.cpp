// The panel and the picture of what drafts are worth: what they draw, what a click changes, CSV.
#include <doctest/doctest.h>

#include <map>
#include <sstream>

#include "tests/support/files.h"
#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/export/export_picture.h"
#include "viz/panels/charts.h"
#include "viz/panels/cost_words.h"

namespace triescope::viz::test_cost_panel {
namespace {

constexpr Rect kArea{0, 0, 900, 500};

Scene whole() {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  return test::scene_at(run, run.end_tick());
}

// Whether the texts, one after another, have it: sentences are broken into lines.
bool draws(const test::RecordingCanvas& canvas, const std::string& part) {
  std::string all;
  for (const auto& one : canvas.texts) all += one.text + " ";
  return all.find(part) != std::string::npos;
}

// Clicks on the first button with this label.
Reaction press(Panel& panel, const std::string& label) {
  const auto canvas = test::drawn(panel, whole(), kArea);
  const auto* const button = test::find(canvas, label);
  REQUIRE(button);
  Input in = test::mouse_over(*button);
  in.clicked = true;
  return panel.input(in, kArea, whole());
}

TEST_CASE("cost panel: what a step costs and gives, and what it needs") {
  const auto panel = make_panel("cost");
  panel->set_view_state("from=typed;rows=0.1,0.1,0.1,33;round=0.1");
  const auto canvas = test::drawn(*panel, whole(), kArea);
  // 5 rows cost 1.4, a round 0.1: 2 tokens for 1.5. With two levels 1 + a + a² = 1.5 at 0.366.
  CHECK(draws(
      canvas,
      "EAGLE-2: a step of 5.0 rows costs 1.50 plain steps (the drafter 0.10) and gives 2.00 tokens: 1.33 × plain"));
  CHECK(draws(canvas, "It pays from 1.50 tokens a step on: from 0.37 accepted (here 0.50)."));
  CHECK(draws(canvas, "Costs, typed in: a forward of 2, 5 and 9 rows costs 1.10, 1.40 and 1.80"));
  CHECK(test::find(canvas, "1.33 ×"));
  CHECK(test::find(canvas, "α 0.9"));
  CHECK(test::find(canvas, "drafts in a step that drafts"));
}

TEST_CASE("cost panel: the name of a curve that leaves the chart lies on no other curve") {
  const auto panel = make_panel("cost");
  panel->set_view_state("from=typed;rows=0.2,0.33,0.33,33;round=0.1");
  const auto canvas = test::drawn(*panel, whole(), kArea);
  const auto* const name = test::find(canvas, "α 0.9");
  REQUIRE(name);
  std::vector<std::string> curves, crossed;
  for (const std::string& call : canvas.calls) {
    std::istringstream words(call);
    std::string what;
    float width = 0, style = 0;
    words >> what >> width >> style;
    if (what != "polyline" || style != static_cast<float>(LineStyle::kDashed)) continue;
    curves.push_back(call);
    std::vector<Point> points;
    for (Point p; words >> p.x >> p.y;) points.push_back(p);
    bool crosses = false;
    for (std::size_t i = 1; i < points.size(); ++i)
      for (float t = 0; t < 1; t += 0.01f) {
        const Point from = points[i - 1], to = points[i];
        crosses = crosses ||
                  name->box.contains({from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)});
      }
    if (crosses) crossed.push_back(call);
  }
  REQUIRE(curves.size() == std::size(kChainAcceptances));
  // Its own is the steepest.
  CHECK((crossed.empty() || crossed == std::vector<std::string>{curves.back()}));
}

TEST_CASE("cost panel: buttons choose whose costs count, and change them") {
  const auto panel = make_panel("cost");
  CHECK(panel->view_state() == "from=run");
  CHECK(press(*panel, "a GPU").tooltip.size() == 1);
  CHECK(panel->view_state() == "from=gpu");
  press(*panel, "experts");
  CHECK(panel->view_state() == "from=experts");
  panel->set_view_state("from=typed;rows=0.4,0.4,0.4,33;round=0.5");
  press(*panel, "−");  // the first is the row's
  CHECK(panel->view_state() == "from=typed;rows=0.32,0.32,0.32,33;round=0.5");
  press(*panel, "+");
  CHECK(panel->view_state() == "from=typed;rows=0.4,0.4,0.4,33;round=0.5");
  press(*panel, "this run");
  CHECK(panel->view_state() == "from=run");
  panel->set_view_state("nonsense");
  CHECK(panel->view_state() == "from=run");
}

TEST_CASE("cost panel: without verified drafts it says so") {
  const auto panel = make_panel("cost");
  for (const Scene& scene :
       {test::scene_at(test::withdrawn_drafts_capture(), 0),
        test::scene_at(test::beam_capture(), test::beam_capture().end_tick())}) {
    CHECK(test::find(test::drawn(*panel, scene, kArea), panel->info().empty));
    CHECK(panel->csv(scene) == "series,kind,drafts,tokens_per_step,step_cost,speedup,low,high\n");
  }
}

TEST_CASE("cost panel: the table has the curve, the best, the run and the chains") {
  const auto panel = make_panel("cost");
  panel->set_view_state("from=typed;rows=0.1,0.1,0.1,33;round=0.1");
  const std::string csv = panel->csv(whole());
  std::map<std::string, std::vector<std::string>> rows;  // by series, kind and drafts
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells(1);
    for (const char c : line)
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    REQUIRE(cells.size() == 8);
    rows[cells[0] + " " + cells[1] + " " + cells[2]] = cells;
  }
  const auto at = [&](const std::string& key, std::size_t column) {
    return std::stod(rows.at(key).at(column));
  };
  CHECK(at("EAGLE-2 curve 0", 5) == 1);
  CHECK(at("EAGLE-2 ran 4", 3) == doctest::Approx(2));
  CHECK(at("EAGLE-2 ran 4", 4) == doctest::Approx(1.5));
  CHECK(at("EAGLE-2 ran 4", 5) == doctest::Approx(4.0 / 3));
  CHECK(at("alpha 0.5 curve 1", 5) == doctest::Approx(1.5 / 1.1));
}

TEST_CASE("cost picture: methods beside each other, with measured points and their intervals") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  CostSeries one{.name = "one",
                 .model = cost_model(*speculation_facts(run, run.end_tick()), {}, {}),
                 .measured = MeasuredSpeedup{1.5, 1.25, 1.75},
                 .runs = 3};
  CostSeries two = one;
  two.name = "two", two.measured = {};
  const auto picture = make_cost_picture({one, two});
  const Scene none;
  Scene scene = test::scene_at(run, 0);  // whatever the scene has
  scene.export_mode = true;
  const auto canvas = test::drawn(*picture, scene, kArea);
  CHECK(test::find(canvas, "one"));
  CHECK(test::find(canvas, "two"));
  CHECK(test::find(canvas, "1.50 ×"));
  CHECK(draws(canvas, "(measured 1.50 ×, the mean of 3 runs)"));
  CHECK(picture->csv(none).find("\none,measured,4,,,1.5,1.25,1.75\n") != std::string::npos);
  test::TempDir folder;
  for (const char* name : {"a.svg", "a.pdf", "a.png", "a.csv"}) {
    const std::string path = (folder.path() / name).string();
    ExportOptions options;
    options.format = export_format_from_string(std::string(name).substr(2));
    export_picture(*picture, {{"Title", "Worth it"}, {"Model", "m"}}, "2026-01-02T03:04:05Z", path,
                   options);
    const std::string text = test::read_file(path);
    CHECK(text.size() > 100);
    if (options.format == ExportFormat::kCsv)
      CHECK(text.starts_with("# Title: Worth it\n# Model: m\n"));
    if (options.format == ExportFormat::kSvg) {
      CHECK(text.find("width=\"959") != std::string::npos);
      CHECK(text.find("height=\"54") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace triescope::viz::test_cost_panel
