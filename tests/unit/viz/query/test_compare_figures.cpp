// The figures above two compared runs are computed again from the captures' rows at every cursor.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/viz/captures.h"
#include "viz/query/compare_figures.h"
#include "viz/query/leaves.h"

namespace triescope::viz::test_compare_figures {
namespace {

using capture::make_tick;
using capture::Phase;
using capture::Tick;

TEST_CASE(
    "compare figures: compared figures are those of the rows before the cursor, at every phase") {
  for (const capture::Capture* run : {&test::beam_capture(), &test::draft_capture()})
    for (Tick tick = 0; tick <= run->end_tick(); ++tick) {
      CAPTURE(tick);
      const CompareFigures figures = compare_figures(*run, tick);
      double emitted = 0, after_prefill = 0, drafted = 0, accepted = 0, steps = 0, decode_us = 0,
             whole_us = 0;
      std::int64_t rows = 0, peak = 0;
      for (const capture::StepRow& row : run->steps()) {
        if (make_tick(row.step, Phase::kForward) < tick && row.step > 0)
          rows += static_cast<std::int64_t>(run->inputs(row.step).size());
        if (make_tick(row.step, Phase::kObserve) >= tick) continue;
        ++steps;
        emitted += row.emitted;
        if (row.step > 0) after_prefill += row.emitted;
        drafted += row.drafted;
        accepted += row.accepted;
      }
      for (const capture::PhaseRow& row : run->phases()) {
        if (row.tick >= tick || capture::step_of(row.tick) == 0) continue;
        decode_us += static_cast<double>(row.duration_us);
        if (capture::step_of(row.tick) < steps) whole_us += static_cast<double>(row.duration_us);
      }
      // More is held within a step than at its end.
      for (Tick seen = 1; seen <= tick; ++seen) {
        std::int64_t held = 0;
        for (std::int32_t slot = 0; slot < run->slot_count_at(seen); ++slot)
          held += run->slot_at(slot, seen).state != capture::SlotState::kFree;
        peak = std::max(peak, held);
      }
      CHECK(figures.steps == steps);
      CHECK(figures.rows == rows);
      CHECK(figures.peak_kv == peak);
      CHECK(static_cast<double>(figures.decode_us) == decode_us);
      CHECK(figures.tokens_per_forward.has_value() == (steps > 0));
      if (steps > 0) CHECK(*figures.tokens_per_forward == doctest::Approx(emitted / steps));
      CHECK(figures.acceptance.has_value() == (drafted > 0));
      if (drafted > 0) CHECK(*figures.acceptance == doctest::Approx(accepted / drafted));
      CHECK(figures.tokens_per_second.has_value() == (whole_us > 0));
      if (whole_us > 0)
        CHECK(*figures.tokens_per_second == doctest::Approx(1e6 * after_prefill / whole_us));
    }
}

TEST_CASE(
    "compare figures: within a step the tokens that are counted are those of the text that is drawn") {
  const capture::Capture& run = test::draft_capture();
  bool within = false;
  for (Tick tick = 0; tick <= run.end_tick(); ++tick) {
    CAPTURE(tick);
    const auto leaves = leaves_at(run, tick);
    if (leaves.empty()) continue;
    const auto drawn = run.path_to(leaves.front().node).size();
    CHECK(compare_figures(run, tick).tokens == static_cast<std::int64_t>(drawn));
    // This is behind accept and before the step is complete.
    within |= capture::step_of(tick) > 0 && capture::phase_of(tick) == Phase::kObserve &&
              drawn > run.path_to(leaves_at(run, tick - 3).front().node).size();
  }
  CHECK(within);
}

TEST_CASE(
    "compare figures: peak KV is what the run held at most, not what is left once it has ended") {
  const capture::Capture& run = test::beam_capture();
  const capture::MemoryRow& last = run.memory().back();
  CHECK(compare_figures(run, run.end_tick()).peak_kv >= last.live + last.garbage);
}

}  // namespace
}  // namespace triescope::viz::test_compare_figures
