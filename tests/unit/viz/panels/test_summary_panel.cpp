// The Summary panel: figures of the rows before the cursor, of a range or of the whole run.
#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/run_summary.h"
#include "viz/query/compare_figures.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"

namespace triescope::test::test_summary_panel {
namespace {

std::map<std::string, std::string> figures_of(const viz::Panel& panel, const viz::Scene& scene) {
  std::map<std::string, std::string> figures;
  std::istringstream lines(panel.csv(scene));
  for (std::string line; std::getline(lines, line);) {
    const auto comma = line.find(',');
    figures[line.substr(0, comma)] = line.substr(comma + 1);
  }
  return figures;
}

TEST_CASE("summary: its figures are those of the finished steps before the cursor") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("summary");
  for (Tick cursor = 0; cursor <= run.end_tick(); ++cursor) {
    CAPTURE(cursor);
    std::int64_t steps = 0, emitted = 0, accepted = 0, us = 0;
    for (const StepRow& row : run.steps()) {
      if (!viz::has_finished(row.step, cursor)) break;
      ++steps;
      emitted += row.emitted;
      accepted += row.accepted;
    }
    for (const PhaseRow& row : run.phases())
      if (row.tick < cursor && step_of(row.tick) > 0) us += row.duration_us;
    auto figures = figures_of(*panel, scene_at(run, cursor));
    CHECK(figures["steps"] == std::to_string(steps));
    CHECK(figures["emitted_tokens"] == std::to_string(emitted));
    CHECK(figures["accepted_drafts"] == std::to_string(accepted));
    CHECK(std::stod(figures["decode_ms"]) == doctest::Approx(static_cast<double>(us) / 1000));
    const viz::CompareFigures compared = viz::compare_figures(run, cursor);
    CHECK(figures["kv_peak_held_tokens"] == std::to_string(compared.peak_kv));
    CHECK(figures.contains("tokens_per_forward") == compared.tokens_per_forward.has_value());
    if (compared.tokens_per_forward)
      CHECK(std::stod(figures["tokens_per_forward"]) ==
            doctest::Approx(*compared.tokens_per_forward));
  }
}

TEST_CASE("summary: of the whole run it says the same at every cursor, and that it does") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("summary");
  const std::string end = panel->csv(scene_at(run, run.end_tick()));
  const viz::Rect area{0, 0, 900, 600};
  const viz::Scene early = scene_at(run, make_tick(2, Phase::kAccept));
  CHECK(panel->csv(early) != end);
  const auto before = drawn(*panel, early, area);
  CHECK(find(before, "up to step 2"));
  REQUIRE(find(before, "whole run"));
  viz::Input in = mouse_over(*find(before, "whole run"));
  in.clicked = true;
  panel->input(in, area, early);
  CHECK(panel->csv(early) == end);
  CHECK(find(drawn(*panel, early, area), "the whole run"));
  CHECK(panel->view_state() == "of=run");
  // The key that presses a panel's button goes back.
  viz::Input key;
  key.fold = true;
  panel->input(key, area, early);
  CHECK(panel->csv(early) != end);
}

TEST_CASE("summary: a range limits the figures to its steps, and their sum is the run's") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("summary");
  const std::int32_t last = run.last_step();
  REQUIRE(last > 2);
  viz::Scene first = scene_at(run, run.end_tick()), second = first;
  first.range = {0, 1};
  second.range = {2, last};
  auto a = figures_of(*panel, first), b = figures_of(*panel, second),
       all = figures_of(*panel, scene_at(run, run.end_tick()));
  for (const char* name : {"steps", "emitted_tokens", "accepted_drafts", "decode_ms", "draft_ms"}) {
    CAPTURE(name);
    CHECK(std::stod(a[name]) + std::stod(b[name]) == doctest::Approx(std::stod(all[name])));
  }
  CHECK(a["steps"] == "2");
}

TEST_CASE("summary: a title leads to the panel that shows more, and a line says what it counts") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("summary");
  const viz::Rect area{0, 0, 1000, 700};
  const viz::Scene scene = scene_at(run, run.end_tick());
  const auto canvas = drawn(*panel, scene, area);
  REQUIRE(find(canvas, "Accepted, by depth"));
  viz::Input in = mouse_over(*find(canvas, "Accepted, by depth"));
  in.clicked = true;
  CHECK(panel->input(in, area, scene).panel == "acceptance-by");
  REQUIRE(find(canvas, "tokens per forward"));
  const auto tooltip =
      panel->input(mouse_over(*find(canvas, "tokens per forward")), area, scene).tooltip;
  REQUIRE(tooltip.size() == 2);
  CHECK(tooltip[1].find("÷ forwards of the target") != std::string::npos);
}

TEST_CASE("summary: beams returned together are told with score and end, one by one") {
  const Capture& run = beam_capture();
  std::size_t returned = 0;
  for (const SequenceRow& row : run.sequences()) returned += row.rank >= 0;
  std::string lines;
  for (const viz::SummarySection& section : viz::run_summary(scene_at(run, run.end_tick())))
    for (const viz::SummaryLine& line : section.lines)
      lines += line.label + "=" + line.value + "\n";
  for (const SequenceRow& row : run.sequences()) {
    if (row.rank < 0) continue;
    const std::string score = viz::logprob_text(row.score);
    const std::string expected = returned > 1 ? "text " + std::to_string(row.rank + 1) + "=" +
                                                    score + ", " + row.finish + "\n"
                                              : "score=" + score + "\n";
    CHECK(lines.find(expected) != std::string::npos);
  }
}

TEST_CASE("summary: nothing is lost where the pane is low: the list scrolls to its end") {
  const Capture& run = draft_capture();
  const auto panel = viz::make_panel("summary");
  const viz::Rect area{0, 0, 320, 200};
  const viz::Scene scene = scene_at(run, run.end_tick());
  const auto sections = viz::run_summary(scene);
  const std::string first = sections.front().lines.front().label,
                    last = sections.back().lines.back().label;
  const auto top = drawn(*panel, scene, area);
  CHECK(find(top, first));
  CHECK_FALSE(find(top, last));
  viz::Input in = mouse_at({100, 120});
  in.wheel = -1000;
  panel->input(in, area, scene);
  const auto bottom = drawn(*panel, scene, area);
  CHECK(find(bottom, last));
  CHECK_FALSE(find(bottom, first));
}

}  // namespace
}  // namespace triescope::test::test_summary_panel
