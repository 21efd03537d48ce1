// Plots of figures from many runs: what stands where, and the figures as CSV.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/support/paths.h"
#include "tests/unit/viz/recording_canvas.h"
#include "viz/export/export_picture.h"
#include "viz/panels/bar_picture.h"
#include "viz/plots/plot_panel.h"
#include "viz/plots/plots.h"

namespace triescope::viz::test_plots {
namespace {

using test::RecordingCanvas;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Scene light_scene() {
  Scene scene;
  scene.theme = light_theme();
  scene.export_mode = true;
  return scene;
}

RecordingCanvas drawn(Panel& plot) {
  const Scene scene = light_scene();
  RecordingCanvas measure;
  const Point size = plot.extent(measure, scene);
  RecordingCanvas canvas;
  plot.draw(canvas, {0, 0, size.x, size.y}, scene);
  return canvas;
}

const RecordingCanvas::Text* text(const RecordingCanvas& canvas, const std::string& wanted) {
  for (const auto& one : canvas.texts)
    if (one.text == wanted) return &one;
  return nullptr;
}

BarChart small_bars() {
  BarChart chart;
  chart.title = "Speed";
  chart.groups = {"rag", "qa"};
  chart.series = {"ngram_trie", "medusa"};
  chart.values = {{BarValue{.mean = 2}, {}}, {BarValue{.mean = 0.5}, BarValue{.mean = 1.5}}};
  chart.reference = 1;
  chart.lies = chart.marks_best = true;
  return chart;
}

TEST_CASE("plots: a number has three digits that count") {
  CHECK(plot_number(0.2741) == "0.27");
  CHECK(plot_number(0.0532) == "0.053");
  CHECK(plot_number(0) == "0.00");
  CHECK(plot_number(2.267) == "2.27");
  CHECK(plot_number(18.36) == "18.4");
  CHECK(plot_number(536.2) == "536");
  CHECK(plot_number(0.9996) == "1.00");
  CHECK(plot_number(kNone) == "–");
}

TEST_CASE("plots: bars have names at the left, groups above, values behind them") {
  const auto plot = make_bar_picture(small_bars());
  const RecordingCanvas canvas = drawn(*plot);
  for (const char* wanted :
       {"Speed", "rag", "qa", "ngram_trie", "medusa", "2.00", "0.50", "1.50", "–"}) {
    CAPTURE(wanted);
    CHECK(text(canvas, wanted));
  }
  CHECK(text(canvas, "rag")->box.x < text(canvas, "qa")->box.x);
  CHECK(text(canvas, "2.00")->box.y == doctest::Approx(text(canvas, "0.50")->box.y).epsilon(0.05));
  CHECK(text(canvas, "1.50")->box.y > text(canvas, "0.50")->box.y);
  // One scale for both groups: 1.5 reaches three times as far as 0.5.
  const float from = text(canvas, "qa")->box.x;
  CHECK(text(canvas, "1.50")->box.x - from >
        2.4f * (text(canvas, "0.50")->box.x - from - light_scene().em));
  CHECK(plot->csv(light_scene()) ==
        "group,series,n,mean,low,high\nrag,ngram_trie,,2,,\nqa,ngram_trie,,0.5,,\n"
        "qa,medusa,,1.5,,\n");
}

TEST_CASE("plots: nothing of a plot lies outside its extent, and no texts lie on each other") {
  HistogramPlot histogram{.name = "h", .title = "Accepted", .unit = "drafts", .parts = {}};
  for (int i = 0; i < 5; ++i)
    histogram.parts.push_back({"method " + std::to_string(i), {40, 30, 20, 8, 2}});
  GridPlot grid{.name = "g",
                .title = "ngram_trie",
                .x_name = "num_draft",
                .y_name = "prefix_length",
                .xs = {"8", "16", "32"},
                .ys = {"2", "3"},
                .figures = {{"tokens a forward", {{1.2, 1.3, 1.4}, {1.1, kNone, 1.5}}},
                            {"speed", {{1, 2, 3}, {4, 5, 6}}}}};
  CurvePlot curves{.name = "c",
                   .title = "KV",
                   .x_name = "step",
                   .y_name = "KV in tokens",
                   .curves = {{"batch", {300, 330, 360}, LineStyle::kSolid, true},
                              {"compact", {100, 112, 118}},
                              {"recycle", {100, 110, 117}},
                              {"greedy", {100, 101, 102}, LineStyle::kDashed, true}}};
  std::vector<std::unique_ptr<Panel>> plots;
  plots.push_back(make_bar_picture(small_bars()));
  plots.push_back(make_histogram_plot(histogram));
  plots.push_back(make_grid_plot(grid));
  plots.push_back(make_curve_plot(curves));
  for (const auto& plot : plots) {
    CAPTURE(plot->info().name);
    RecordingCanvas measure;
    const Point size = plot->extent(measure, light_scene());
    const RecordingCanvas canvas = drawn(*plot);
    CHECK(canvas.ink.x >= -0.5f);
    CHECK(canvas.ink.y >= -0.5f);
    CHECK(canvas.ink.right() <= size.x + 0.5f);
    CHECK(canvas.ink.bottom() <= size.y + 0.5f);
    for (std::size_t a = 0; a < canvas.texts.size(); ++a)
      for (std::size_t b = a + 1; b < canvas.texts.size(); ++b) {
        const Rect one = canvas.texts[a].box.inset(1), other = canvas.texts[b].box.inset(1);
        CAPTURE(canvas.texts[a].text);
        CAPTURE(canvas.texts[b].text);
        CHECK_FALSE((one.x < other.right() && other.x < one.right() && one.y < other.bottom() &&
                     other.y < one.bottom()));
      }
  }
}

TEST_CASE("plots: a histogram says mean and number, and its last bar counts the rest") {
  HistogramPlot plot{.name = "h", .title = "Accepted", .unit = "drafts", .parts = {}};
  plot.parts = {{"short", {3, 1}}, {"long", std::vector<std::int64_t>(20, 1)}};
  const auto panel = make_histogram_plot(plot);
  const RecordingCanvas canvas = drawn(*panel);
  CHECK(text(canvas, "mean 0.25, n = 4"));
  CHECK(text(canvas, "75"));  // % of 0
  CHECK(text(canvas, "mean 9.50, n = 20"));
  CHECK(text(canvas, "14+"));
  CHECK(text(canvas, "30"));  // % of 14 and more, and of the first one's 1
  CHECK_FALSE(text(canvas, "16"));
  CHECK(panel->csv(light_scene()).starts_with("row,value,count\nshort,0,3\nshort,1,1\nlong,0,1\n"));
}

TEST_CASE("plots: a grid of one setting has one row, of two a row for each value") {
  GridPlot plot{.name = "g",
                .title = "draft_model",
                .x_name = "num_assistant_tokens",
                .y_name = "",
                .xs = {"2", "4"},
                .ys = {},
                .figures = {{"speed", {{1.25, 1.5}}}}};
  const auto one = make_grid_plot(plot);
  CHECK(text(drawn(*one), "1.25"));
  CHECK(one->csv(light_scene()) == "num_assistant_tokens,row,speed\n2,,1.25\n4,,1.5\n");
  plot.y_name = "levels";
  plot.ys = {"1", "8"};
  plot.figures = {{"speed", {{1.25, 1.5}, {2, kNone}}}};
  const auto two = make_grid_plot(plot);
  const RecordingCanvas canvas = drawn(*two);
  CHECK(text(canvas, "8")->box.y > text(canvas, "1")->box.y);
  CHECK(two->csv(light_scene()) ==
        "num_assistant_tokens,levels,speed\n2,1,1.25\n4,1,1.5\n2,8,2\n4,8,\n");
}

TEST_CASE("plots: curves are named where they end, in their order") {
  CurvePlot plot{.name = "c",
                 .title = "KV",
                 .x_name = "step",
                 .y_name = "KV in tokens",
                 .curves = {{"high", {10, 90}}, {"low", {10, 20}}, {"also low", {10, 19.9}}}};
  const auto panel = make_curve_plot(plot);
  const RecordingCanvas canvas = drawn(*panel);
  const auto* const high = text(canvas, "high");
  const auto* const low = text(canvas, "low");
  const auto* const also = text(canvas, "also low");
  REQUIRE(high);
  REQUIRE(low);
  REQUIRE(also);
  CHECK(high->box.bottom() < low->box.y);
  CHECK(low->box.bottom() <= also->box.y + 1);
  CHECK(panel->csv(light_scene()) == "x,high,low,also low\n0,10,10,10\n1,90,20,19.9\n");
}

TEST_CASE("plots: a file says its facts, and the same figures give the same file") {
  const test::TempDir folder;
  const auto plot = make_bar_picture(small_bars());
  const Facts facts = {{"Title", "Speed"}, {"Model", "tiny.gguf"}, {"Prompts", "5 prompts"}};
  const auto written = [&](const std::string& name, ExportFormat format) {
    ExportOptions options;
    options.format = format;
    const std::string path = (folder.path() / name).string();
    export_picture(*plot, facts, "", path, options);
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string svg = written("a.svg", ExportFormat::kSvg);
  CHECK(svg.find("tiny.gguf") != std::string::npos);
  CHECK(svg == written("b.svg", ExportFormat::kSvg));
  CHECK(written("a.pdf", ExportFormat::kPdf).starts_with("%PDF"));
  const std::string csv = written("a.csv", ExportFormat::kCsv);
  CHECK(csv.starts_with(
      "# Title: Speed\n# Model: tiny.gguf\n# Prompts: 5 prompts\ngroup,series,n,mean,low,high\n"));
}

}  // namespace
}  // namespace triescope::viz::test_plots
