// Whether drafts pay for beams, and in a mixture whose experts were recorded; figures by hand.
#include <doctest/doctest.h>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/mixture_run.h"
#include "viz/panels/cost_words.h"
#include "viz/query/cost_model.h"

namespace triescope::viz::test_cost_kinds {
namespace {

using doctest::Approx;

CostChoice typed(double row, double round) {
  return {.from = CostsFrom::kTyped,
          .typed = {.second_row = row, .cheap_row = row, .dear_row = row},
          .measured = {},
          .round = round};
}

// A search of four beams: 20 steps of 10 rows, in which it went 30 levels on.
SpeculationFacts beams() {
  SpeculationFacts facts;
  facts.steps = facts.drafting = 20;
  facts.tokens = 30, facts.rows = 200, facts.levels = 40;
  facts.of_beams = true;
  facts.plain_rows = 4;
  facts.by_level = true;
  facts.depths.groups = {{.label = "1", .order = 1, .n = 80, .accepted = 30}};
  return facts;
}

TEST_CASE("cost of beams and mixtures: beams with drafts pay against a forward of one row a beam") {
  const CostModel model = cost_model(beams(), typed(0.1, 0.05), {});
  CHECK(model.plain() == Approx(1.3));
  CHECK(model.forward_cost() == Approx(1.9 / 1.3));
  CHECK(model.step_cost() == Approx((1.9 + 0.05 * 2) / 1.3));
  CHECK(model.speedup() == Approx(1.5 / (2 / 1.3)));
  CHECK_FALSE(model.needed());  // no acceptance of a chain says it
  CHECK(model.best().drafts == 0);
  CHECK(model.yields.empty());
  const CostSeries series{.name = "beams", .model = model};
  CHECK(series.drafts() == 6);  // rows beside the four
  CHECK(
      worth_sentence(series) ==
      "beams: a step of 10.0 rows costs 1.54 plain steps of 4 beams (the drafter 0.08) and gives 1.50 "
      "levels: 0.97 × plain beam search.");
  CHECK(needs_sentence(model).starts_with("It pays from 1.54 levels a step on."));
}

TEST_CASE("cost of beams and mixtures: a search with drafts has levels and rows") {
  const auto opened = test::make_capture([](capture::Recorder& out) {
    capture::RunInfo info = test::synthetic_info(4, "beam", "Beams with drafts", "recycle");
    out.write({.run = info, .drafters = {test::synthetic_drafter()}, .nodes = {{.node = 0}}});
    for (const int step : {0, 1, 2}) {
      for (int phase = 0; phase < capture::kPhaseCount; ++phase)
        out.write({.phases = {{.tick = capture::make_tick(step, static_cast<capture::Phase>(phase)),
                               .duration_us = 100}}});
      out.write({.steps = {{.step = step, .forward_rows = 3 + 2 * step, .emitted = step + 1}}});
    }
  });
  const auto facts = speculation_facts(*opened->capture, opened->capture->end_tick());
  REQUIRE(facts);
  CHECK(facts->plain_rows == 3);
  CHECK(facts->is_of_beams());
  CHECK(facts->steps == 2);
  CHECK(facts->tokens == 5);
  CHECK(facts->rows == 12);
}

TEST_CASE("cost of beams and mixtures: a mixture's rows pay for the experts that the run read") {
  const capture::Capture& run = test::mixture_capture();
  const ExpertReads reads = expert_reads(run, run.end_tick());
  CHECK(reads.used == 2);
  CHECK(reads.experts == 4);
  // Two layers of two experts of 100 bytes, of 1000.
  CHECK(reads.of_experts == Approx(0.4));
  CHECK(reads.by_rows.at(4).different == 3);
  CHECK(reads.by_rows.at(1).steps == 1);
  const auto costs = expert_costs(reads);
  REQUIRE(costs);
  CHECK(costs->of(1) == 1);
  CHECK(costs->of(4) == Approx(1 + 3.0 / 33 + 0.4 * (3.0 / 2 - 1)));
  CHECK_FALSE(expert_costs(expert_reads(run, run.end_tick(), std::pair{2, 2})));  // one row alone
  CHECK_FALSE(expert_costs({}));
  ExpertReads both = reads;
  add_expert_reads(both, reads);
  CHECK(both.by_rows.at(4).steps == 2);
  CHECK(expert_costs(both)->of(4) == Approx(costs->of(4)));
  // By chance it is what the assumed mixture costs.
  const RowCosts chance{.of_experts = 0.4, .chosen = 0.5};
  ExpertReads free = {.by_rows = {{2, {3, 1}}}, .used = 2, .experts = 4, .of_experts = 0.4};
  CHECK(expert_costs(free)->of(2) == Approx(ForwardCosts(chance).of(2)));
  const CostModel model =
      cost_model(*speculation_facts(run, run.end_tick()), {.from = CostsFrom::kExperts}, {});
  CHECK(model.counts_experts);
  CHECK(model.forwards.of(4) == Approx(costs->of(4)));
  CHECK_FALSE(cost_model(beams(), {.from = CostsFrom::kExperts}, {}).counts_experts);
}

}  // namespace
}  // namespace triescope::viz::test_cost_kinds
