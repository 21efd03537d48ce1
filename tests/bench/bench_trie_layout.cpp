// The trie at 20,000 and 100,000 nodes: laying it out, growing it by a step, and building a frame of
// the panel with its map (CPU only: the canvas counts what it is given and draws nothing). Promised:
// a frame of 20,000 nodes takes 4 ms at most, one of 100,000 8 ms.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "viz/layouts/trie_layout.h"
#include "viz/panels/panel.h"

namespace {

using namespace triescope;
using namespace triescope::capture;

constexpr int kMany = 20000, kMost = 100000;

// A beam search of 20 beams, with a live tree at its end.
void record(Recorder& recorder, int nodes, int beams) {
  RunInfo info;
  info.model_json = "{}";
  info.settings_json = "{}";
  info.versions_json = "{}";
  info.method = "beam";
  info.prompt_tokens = {1, 2, 3};
  info.kv_bytes_per_token = 1024;
  recorder.write({.run = info});
  for (int token = 0; token < 100; ++token)
    recorder.write({.pieces = {{token, " token" + std::to_string(token)}}});
  Rng rng(3);
  std::vector<std::int32_t> live = {0}, depth = {0};
  recorder.write({.nodes = {{.logprob = 0, .score = 0}}});
  for (int step = 0; static_cast<int>(depth.size()) < nodes; ++step) {
    const Tick accept = make_tick(step, Phase::kAccept);
    std::vector<NodeRow> rows;
    std::vector<FrontierRow> frontier;
    std::vector<VerdictRow> verdicts;
    std::vector<std::int32_t> next;
    for (int beam = 0; beam < beams; ++beam) {
      const std::int32_t parent = live[rng.next() % live.size()];
      const auto node = static_cast<std::int32_t>(depth.size());
      depth.push_back(depth[static_cast<std::size_t>(parent)] + 1);
      rows.push_back({.node = node,
                      .parent = parent,
                      .token = static_cast<std::int32_t>(rng.next() % 100),
                      .depth = depth.back(),
                      .logprob = -static_cast<float>(rng.uniform()),
                      .score = -static_cast<float>(step),
                      .source = Source::kBeam,
                      .tick = accept});
      frontier.push_back({.step = step, .rank = beam, .node = node});
      verdicts.push_back({.tick = accept, .node = node, .verdict = Verdict::kKept, .rank = beam});
      next.push_back(node);
    }
    recorder.write({.nodes = rows});
    recorder.write({.verdicts = verdicts});
    recorder.write({.frontier = frontier});
    for (int phase = 0; phase < kPhaseCount; ++phase)
      recorder.write({.phases = {{.tick = make_tick(step, static_cast<Phase>(phase)),
                                  .start_us = step * 100,
                                  .duration_us = 10}}});
    recorder.write({.steps = {{.step = step, .emitted = 1, .frontier = beams}}});
    live = next;
  }
  recorder.write({.finish = Finish{RunStatus::kStopped, ""}});
}

const Capture& capture_of(int nodes) {
  static std::map<int, std::unique_ptr<Capture>> captures;
  std::unique_ptr<Capture>& capture = captures[nodes];
  if (!capture) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("triescope-bench-trie-" + std::to_string(nodes) + ".tscap");
    {
      const auto recorder = open_recorder(path.string());
      record(*recorder, nodes, 20);
    }
    capture = Capture::open(path.string());
    std::filesystem::remove(path);
  }
  return *capture;
}

class CountingCanvas final : public viz::Canvas {
 public:
  std::size_t shapes = 0;
  void fill_rect(viz::Rect, viz::Color, float) override { ++shapes; }
  void stroke_rect(viz::Rect, viz::Color, float, viz::LineStyle, float) override { ++shapes; }
  void line(viz::Point, viz::Point, viz::Color, float, viz::LineStyle) override { ++shapes; }
  void polyline(std::span<const viz::Point>, viz::Color, float, viz::LineStyle) override {
    ++shapes;
  }
  void fill_polygon(std::span<const viz::Point>, viz::Color) override { ++shapes; }
  void bezier(viz::Point, viz::Point, viz::Point, viz::Point, viz::Color, float,
              viz::LineStyle) override {
    ++shapes;
  }
  void fill_circle(viz::Point, float, viz::Color) override { ++shapes; }
  void stroke_circle(viz::Point, float, viz::Color, float) override { ++shapes; }
  void text(viz::Point, std::string_view, const viz::TextStyle&) override { ++shapes; }
  viz::Point measure(std::string_view utf8, const viz::TextStyle& style) override {
    return {static_cast<float>(utf8.size()) * style.size_px * 0.6f, style.size_px * 1.2f};
  }
  void push_clip(viz::Rect) override {}
  void pop_clip() override {}
};

std::vector<std::int32_t> parents_of(const Capture& capture) {
  std::vector<std::int32_t> parents;
  for (const NodeRow& row : capture.nodes()) parents.push_back(row.parent);
  return parents;
}

void layout_from_scratch(benchmark::State& state) {
  const auto parents = parents_of(capture_of(static_cast<int>(state.range(0))));
  viz::TrieLayout layout;
  for (auto _ : state) {
    layout.build(parents);
    benchmark::DoNotOptimize(layout.rows());
  }
}
BENCHMARK(layout_from_scratch)->Arg(kMany)->Arg(kMost)->Unit(benchmark::kMicrosecond);

void layout_grows_by_one_step(benchmark::State& state) {
  const auto parents = parents_of(capture_of(static_cast<int>(state.range(0))));
  const std::size_t before = parents.size() - 20;
  viz::TrieLayout base;
  base.build(std::span(parents).first(before));
  for (auto _ : state) {
    state.PauseTiming();
    viz::TrieLayout layout = base;
    state.ResumeTiming();
    for (std::size_t i = before; i < parents.size(); ++i) layout.append(parents[i]);
    benchmark::DoNotOptimize(layout.rows());
  }
}
BENCHMARK(layout_grows_by_one_step)
    ->Arg(kMany)
    ->Arg(kMost)
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(200);

viz::Scene scene_of(const Capture& capture) {
  viz::Scene scene;
  scene.capture = &capture;
  scene.cursor = capture.end_tick();
  scene.theme = viz::dark_theme();
  scene.animate = false;
  return scene;
}

constexpr viz::Rect kArea{0, 0, 1280, 720};

// `fit`: everything in sight; `all`: nothing is folded.
void frame(benchmark::State& state, bool fit, bool all, bool cursor_moves) {
  const Capture& capture = capture_of(static_cast<int>(state.range(0)));
  const auto panel = viz::make_panel("trie");
  if (all) panel->set_view_state("mode=none;zoom=1");
  viz::Scene scene = scene_of(capture);
  CountingCanvas canvas;
  panel->draw(canvas, kArea, scene);
  if (fit) {
    viz::Input input;
    input.fit = true;
    panel->input(input, kArea, scene);
    panel->draw(canvas, kArea, scene);
  }
  const Tick end = scene.cursor;
  for (auto _ : state) {
    if (cursor_moves) scene.cursor = scene.cursor == end ? end - 5 : end;
    canvas.shapes = 0;
    panel->draw(canvas, kArea, scene);
  }
  state.counters["shapes"] = static_cast<double>(canvas.shapes);
}
void both_sizes(benchmark::internal::Benchmark* one) {
  one->Arg(kMany)->Arg(kMost)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(frame, follow, false, false, false)->Apply(both_sizes);
BENCHMARK_CAPTURE(frame, follow_nothing_folded, false, true, false)->Apply(both_sizes);
BENCHMARK_CAPTURE(frame, fit, true, false, false)->Apply(both_sizes);
BENCHMARK_CAPTURE(frame, fit_nothing_folded, true, true, false)->Apply(both_sizes);
BENCHMARK_CAPTURE(frame, cursor_moves, false, false, true)->Apply(both_sizes);
BENCHMARK_CAPTURE(frame, cursor_moves_nothing_folded, false, true, true)->Apply(both_sizes);

}  // namespace

BENCHMARK_MAIN();
