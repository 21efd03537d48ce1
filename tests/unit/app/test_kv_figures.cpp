// The number of KV slots held, and when. The panels' figures are counted again from the slots
// themselves, for every method and KV policy, and the run's peaks equal those of `decode --json`.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "tests/unit/app/recorded_run.h"
#include "tests/unit/viz/looking.h"
#include "viz/narration/narration.h"
#include "viz/narration/sentences.h"
#include "viz/panels/kv_slots.h"
#include "viz/panels/panel.h"
#include "viz/query/compare_figures.h"
#include "viz/query/kv_levels.h"
#include "viz/text/number_text.h"

namespace triescope::test::test_kv_figures {
namespace {

struct Run {
  TempDir dir;
  std::unique_ptr<Capture> capture;
  RunResult result;
};

std::unique_ptr<Run> run_of(const MethodInfo& method, json settings) {
  auto run = std::make_unique<Run>();
  const std::string path = record({.method = method.name,
                                   .settings = std::move(settings),
                                   .model = chained(),
                                   .max_new_tokens = 14},
                                  run->dir, &run->result);
  REQUIRE(!path.empty());
  run->capture = Capture::open(path);
  return run;
}

void check_levels(const Run& run) {
  const Capture& capture = *run.capture;
  for (const Whose whose : capture.owners()) {
    CAPTURE(to_string(whose));
    const viz::RowSource source{whose};
    for (Tick cursor = 0; cursor <= capture.end_tick(); ++cursor) {
      CAPTURE(cursor);
      const viz::KvSlots slots = viz::slots_at(source, capture, cursor);
      const KvLevel level = viz::kv_level_at(capture, cursor, whose);
      CHECK(level.live == slots.live);
      CHECK(level.garbage == slots.garbage);
      // Steps that the cursor has not seen do not count.
      if (const auto peak = viz::kv_peak(capture, cursor, whose)) {
        CHECK(peak->tick < cursor);
        CHECK(peak->held() >= level.live + level.garbage);
      } else {
        CHECK(slots.live + slots.garbage == 0);
      }
    }
    std::int32_t live = 0, garbage = 0;
    for (const KvLevel& level : capture.kv_levels(whose)) {
      live = std::max(live, level.peak_live);
      garbage = std::max(garbage, level.garbage);
    }
    if (whose == Whose::kTarget) {
      CHECK(live == run.result.peak_live_tokens);
      CHECK(garbage == run.result.peak_garbage_tokens);
      CHECK(viz::kv_peak(capture, capture.end_tick())->held() == run.result.peak_held_tokens);
    } else {
      CHECK(live == run.result.drafter_cost.kv_peak_tokens);
    }
  }
}

TEST_CASE("KV levels: every tick's are those of the slots, the peaks those of the run's result") {
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    if (method.name == "rest") continue;  // needs a datastore; its KV is like prompt lookup's
    json settings = json::object();
    const bool beams = std::ranges::any_of(method.parameters, [](const Parameter& parameter) {
      return parameter.name == "num_beams";
    });
    if (beams) settings["num_beams"] = 3;
    check_levels(*run_of(method, settings));
    if (method.name != "beam") continue;
    for (const char* policy : {"recycle", "keep", "compact"}) {
      CAPTURE(policy);
      check_levels(*run_of(method, {{"num_beams", 4}, {"kv", policy}, {"gc_every", 3}}));
    }
  }
}

TEST_CASE("KV levels: the peak of a range counts what the steps before it left in the cache") {
  for (const char* policy : {"recycle", "keep", "compact", "batch"}) {
    CAPTURE(policy);
    const auto recorded = run_of(find_method("beam"), {{"num_beams", 4}, {"kv", policy}});
    const Capture& capture = *recorded->capture;
    const std::int32_t last = capture.last_step();
    for (std::int32_t first = 0; first <= last; ++first)
      for (std::int32_t end = first; end <= last; ++end) {
        CAPTURE(first);
        CAPTURE(end);
        // The slots are counted as the range begins, then after each of its phases.
        std::int32_t most = 0;
        for (Tick tick = make_tick(first, Phase::kDraft); tick <= make_tick(end + 1, Phase::kDraft);
             ++tick) {
          const viz::KvSlots slots = viz::slots_at({}, capture, tick);
          most = std::max(most, slots.live + slots.garbage);
        }
        const auto peak =
            viz::kv_peak(capture, capture.end_tick(), Whose::kTarget, std::pair{first, end});
        REQUIRE(peak);
        CHECK(peak->held() == most);
        CHECK(step_of(peak->tick) >= first);
        CHECK(step_of(peak->tick) <= end);
      }
    // A step that the cursor has not reached has no peak.
    CHECK_FALSE(
        viz::kv_peak(capture, make_tick(2, Phase::kDraft), Whose::kTarget, std::pair{2, 3}));
  }
}

// `decode --json`, the inspector and the comparison of runs give the same figures for one run;
// tokens per second are counted once more from the rows.
TEST_CASE("KV figures: a run's result and its capture say the same figures") {
  for (const MethodInfo& method : methods()) {
    CAPTURE(method.name);
    if (method.name == "rest") continue;
    const auto recorded = run_of(method, json::object());
    const Capture& capture = *recorded->capture;
    const RunResult& result = recorded->result;
    const viz::CompareFigures figures = viz::compare_figures(capture, capture.end_tick());
    CHECK(figures.steps == result.steps);
    CHECK(figures.tokens == static_cast<std::int64_t>(result.sequences.front().tokens.size()));
    CHECK(*figures.tokens_per_forward == result.tokens_per_forward);
    CHECK(figures.peak_kv == result.peak_held_tokens);
    std::int64_t emitted = 0, prefill = 0, drafted = 0, accepted = 0;
    for (const StepRow& row : capture.steps()) {
      emitted += row.emitted;
      prefill += row.step == 0 ? row.emitted : 0;
      drafted += row.drafted;
      accepted += row.accepted;
    }
    CHECK(emitted == result.emitted_tokens);
    CHECK(prefill == result.prefill_tokens);
    std::int64_t accepted_there = 0;
    for (std::size_t k = 0; k < result.accepted_histogram.size(); ++k)
      accepted_there += static_cast<std::int64_t>(k) * result.accepted_histogram[k];
    CHECK(accepted == accepted_there);
    CHECK(figures.acceptance.has_value() == (drafted > 0));
    double decode_us = 0, phases = 0;
    for (const PhaseRow& row : capture.phases())
      if (step_of(row.tick) > 0) decode_us += static_cast<double>(row.duration_us), ++phases;
    CHECK(static_cast<double>(figures.decode_us) == decode_us);
    // The rows' times are rounded to microseconds.
    CHECK(std::abs(result.time.decode_ms * 1000 - decode_us) <= phases);
    REQUIRE(result.tokens_per_second());
    CHECK(*result.tokens_per_second() ==
          doctest::Approx(1000 * static_cast<double>(emitted - prefill) / result.time.decode_ms));
    CHECK(figures.tokens_per_second.has_value() == (decode_us > 0));
    if (decode_us > 0)
      CHECK(*figures.tokens_per_second ==
            doctest::Approx(1e6 * static_cast<double>(emitted - prefill) / decode_us));
  }
}

std::string legend_figure(const RecordingCanvas& canvas, const std::string& name) {
  for (const auto& text : canvas.texts)
    if (text.text.rfind(name + " ", 0) == 0) return text.text.substr(name.size() + 1);
  return "";
}

TEST_CASE(
    "KV figures: memory, KV slots and narration say how many slots a collection has moved, in its step alone") {
  const viz::Rect area{0, 0, 1100, 500};
  const auto opened = std::make_unique<Run>();
  const std::string path =
      record({.method = "beam", .settings = {{"num_beams", 4}, {"kv", "compact"}, {"gc_every", 2}}},
             opened->dir);
  REQUIRE(!path.empty());
  opened->capture = Capture::open(path);
  const Capture& run = *opened->capture;
  std::size_t collections = 0;
  for (Tick cursor = 1; cursor <= run.end_tick(); ++cursor) {
    CAPTURE(cursor);
    const auto events = run.slot_events(step_of(cursor - 1));
    const auto moved = std::ranges::count_if(events, [&](const SlotRow& row) {
      return row.action == SlotAction::kMove && row.tick < cursor;
    });
    const std::string wanted = moved > 0 ? std::to_string(moved) : "";
    const viz::Scene scene = scene_at(run, cursor);
    CHECK(legend_figure(drawn(*viz::make_panel("memory"), scene, area), "moved") == wanted);
    CHECK(legend_figure(drawn(*viz::make_panel("kv"), scene, area), "moved") == wanted);
    std::string told;
    for (const viz::Sentence& sentence :
         viz::narrate(run, cursor, viz::Sentences::standard()).sentences)
      for (const viz::Part& part : sentence.parts)
        if (part.fact == "moved") told = std::to_string(std::lround(part.number));
    CHECK(told == (phase_of(cursor - 1) == Phase::kCommit ? wanted : ""));
    collections += moved > 0 && !told.empty();
  }
  CHECK(collections >= 2);
}

TEST_CASE(
    "memory and KV slots: both say the same at every cursor, and the peak leads to its tick") {
  const viz::Rect area{0, 0, 1100, 500};
  for (const char* name : {"beam", "ngram_trie", "eagle3"}) {
    CAPTURE(name);
    const auto opened = run_of(find_method(name), json::object());
    const Run& run = *opened;
    for (Tick cursor = 1; cursor <= run.capture->end_tick(); ++cursor) {
      CAPTURE(cursor);
      const viz::Scene scene = scene_at(*run.capture, cursor);
      const auto memory = viz::make_panel("memory"), kv = viz::make_panel("kv");
      const auto left = drawn(*memory, scene, area), right = drawn(*kv, scene, area);
      if (run.capture->slot_count_at(cursor) == 0) continue;
      CHECK(legend_figure(left, "live") == legend_figure(right, "live"));
      CHECK(legend_figure(left, "peak") ==
            std::to_string(viz::kv_peak(*run.capture, cursor)->held()));
    }
    const viz::Scene scene = scene_at(*run.capture, run.capture->end_tick());
    const auto memory = viz::make_panel("memory");
    const auto canvas = drawn(*memory, scene, area);
    const auto* peak =
        find(canvas, "peak " + std::to_string(viz::kv_peak(*run.capture, scene.cursor)->held()));
    REQUIRE(peak);
    // One mark is the legend's, one stands on the curve.
    CHECK(std::ranges::count_if(canvas.calls, [](const std::string& call) {
            return call.rfind("fill_polygon", 0) == 0;
          }) >= 2);
    const auto most = viz::kv_peak(*run.capture, scene.cursor);
    CHECK(find(canvas,
               std::to_string(most->held()) + ", step " + std::to_string(step_of(most->tick))));
    viz::Input click = mouse_at({peak->box.x + 2, peak->box.y + peak->box.h / 2});
    click.clicked = true;
    const viz::Reaction reaction = memory->input(click, area, scene);
    REQUIRE(reaction.cursor);
    CHECK(*reaction.cursor == viz::kv_peak(*run.capture, scene.cursor)->tick + 1);
  }
}

TEST_CASE(
    "memory: with two caches both are shown on top of each other, in bytes, at every cursor") {
  const viz::Rect area{0, 0, 1400, 500};
  for (const char* name : {"draft_model", "eagle3"}) {
    CAPTURE(name);
    const auto run = run_of(find_method(name), json::object());
    const Capture& capture = *run->capture;
    REQUIRE(capture.owners().size() == 2);
    for (Tick cursor = 1; cursor <= capture.end_tick(); ++cursor) {
      CAPTURE(cursor);
      double bytes = 0;
      for (const Whose whose : capture.owners()) {
        const viz::RowSource source{whose};
        const viz::KvSlots slots = viz::slots_at(source, capture, cursor);
        bytes +=
            static_cast<double>((slots.live + slots.garbage) * source.kv_bytes_per_token(capture));
      }
      const auto memory = viz::make_panel("memory");
      const auto canvas = drawn(*memory, scene_at(capture, cursor), area);
      if (capture.memory().empty()) continue;
      CHECK(legend_figure(canvas, "all caches") == viz::bytes_text(bytes));
    }
  }
  const auto one = run_of(find_method("beam"), json::object());
  const auto memory = viz::make_panel("memory");
  CHECK(legend_figure(drawn(*memory, scene_at(*one->capture, one->capture->end_tick()), area),
                      "all caches") == "");
}

TEST_CASE("memory: the end of a run says what the policy left of its KV") {
  for (const char* policy : {"recycle", "keep", "compact", "batch"}) {
    CAPTURE(policy);
    const auto run =
        run_of(find_method("beam"), {{"num_beams", 3}, {"kv", policy}, {"gc_every", 3}});
    const Capture& capture = *run->capture;
    const viz::KvSlots left = viz::slots_at({}, capture, capture.end_tick());
    if (std::string(policy) == "keep") CHECK(left.garbage > 0);
    const auto memory = viz::make_panel("memory");
    const auto canvas = drawn(*memory, scene_at(capture, capture.end_tick()), {0, 0, 1400, 500});
    const bool released = std::ranges::any_of(canvas.texts, [](const auto& text) {
      return text.text.find("released") != std::string::npos;
    });
    const bool garbage = std::ranges::any_of(canvas.texts, [](const auto& text) {
      return text.text.find("left as garbage") != std::string::npos;
    });
    CHECK(released == (left.garbage == 0));
    CHECK(garbage == (left.garbage > 0));
  }
}

}  // namespace
}  // namespace triescope::test::test_kv_figures
