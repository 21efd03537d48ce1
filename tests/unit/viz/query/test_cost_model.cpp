// Whether drafts pay: costs of rows, expected tokens and the model of both, by figures worked out by
// hand.
#include "viz/query/cost_model.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/withdrawn_drafts.h"

namespace triescope::viz::test_cost_model {
namespace {

using doctest::Approx;

AcceptanceGroup group(const std::string& label, std::int64_t n, std::int64_t accepted) {
  const auto level = 1 + std::count(label.begin(), label.end(), '.');
  return {.label = label, .order = static_cast<double>(level), .n = n, .accepted = accepted};
}

// A chain of four drafts in 64 steps, each accepted half of the time.
SpeculationFacts chain() {
  SpeculationFacts facts;
  facts.steps = facts.drafting = 64;
  facts.tokens = 64 + 32 + 16 + 8 + 4;
  facts.rows = 64 * 5, facts.levels = 64 * 4;
  facts.by_level = true;
  facts.depths.groups = {group("1", 64, 32), group("2", 32, 16), group("3", 16, 8),
                         group("4", 8, 4)};
  facts.places.groups = {group("1", 64, 32), group("1.1", 32, 16), group("1.1.1", 16, 8),
                         group("1.1.1.1", 8, 4)};
  return facts;
}

CostChoice typed(double row, double round) {
  return {.from = CostsFrom::kTyped,
          .typed = {.second_row = row, .cheap_row = row, .dear_row = row},
          .measured = {},
          .round = round};
}

TEST_CASE(
    "cost model: a forward costs the sum of its rows, and a mean number of rows lies between") {
  const ForwardCosts costs(RowCosts{5, 0.2, 0.3, 0.5});
  CHECK(costs.of(1) == 1);
  CHECK(costs.of(2) == Approx(1.2));
  CHECK(costs.of(2.5) == Approx(1.35));
  CHECK(costs.of(5) == Approx(2.1));
  CHECK(costs.of(7) == Approx(3.1));
  CHECK(costs.of(1000) == Approx(2.1 + 995 * 0.5));
  CHECK(costs.second_row() == Approx(0.2));
}

TEST_CASE("cost model: the rows of a mixture pay for the distinct experts that they touch") {
  RowCosts moe{33, 0, 0, 0};
  moe.of_experts = 0.6, moe.chosen = 0.25;
  const ForwardCosts costs(moe);
  for (const int rows : {1, 2, 3, 8}) {
    CAPTURE(rows);
    const double distinct = (1 - std::pow(0.75, rows)) / 0.25;  // in rows' worth of experts
    CHECK(costs.of(rows) == Approx(1 + 0.6 * (distinct - 1)));
  }
}

TEST_CASE("cost model: a line through the median times of forwards, which never falls") {
  const auto line = measured_forwards({{1, {100, 300, 100}}, {3, {150, 150, 150}}});
  REQUIRE(line);
  CHECK(line->one_row_us == Approx(100));
  CHECK(line->forwards == 6);
  CHECK(line->costs.of(2) == Approx(1.25));
  CHECK(line->costs.of(9) == Approx(3));
  // Least squares over the rows less one, 0, 1 and 4: slope 220 / (26 / 3), means 5 / 3 and 140.
  const auto three =
      measured_forwards({{1, {100, 100, 100}}, {2, {120, 120, 120}}, {5, {200, 200, 200}}});
  REQUIRE(three);
  CHECK(three->one_row_us == Approx(140 - (220.0 / 26 * 3) * 5 / 3));
  const auto falling = measured_forwards({{1, {200, 200, 200}}, {4, {100, 100, 100}}});
  REQUIRE(falling);
  CHECK(falling->costs.of(4) == 1);
  CHECK_FALSE(measured_forwards({{5, {100, 100, 100}}}));
  CHECK_FALSE(measured_forwards({{1, {100, 100}}, {3, {150, 150, 150}}}));
  CHECK_FALSE(measured_forwards({{1, {0, 0, 0}}, {3, {0, 0, 0}}}));  // no times
}

TEST_CASE(
    "cost model: tokens of a chain, and the acceptance at which it pays (Leviathan et al., eq. 1)") {
  CHECK(chain_tokens(0.8, 4) == Approx((1 - std::pow(0.8, 5)) / 0.2));
  CHECK(chain_tokens(1, 3) == 4);
  CHECK(chain_tokens(0.5, 0) == 1);
  CHECK(needed_acceptance(1, 4) == 0);
  CHECK(*needed_acceptance(1.5, 1) == Approx(0.5));
  CHECK(*needed_acceptance(1.75, 2) == Approx(0.5));
  CHECK(*needed_acceptance(1.375, 2, 0.5) == Approx(0.5));
  CHECK(*needed_acceptance(3, 2) == Approx(1));
  CHECK_FALSE(needed_acceptance(3.1, 2));
}

TEST_CASE("cost model: with free rows it is Leviathan et al.'s Theorem 3.8") {
  const double alpha = 0.5, c = 0.1;
  const CostModel model = cost_model(chain(), typed(0, c), {});
  for (int n = 1; n <= 4; ++n) {
    CAPTURE(n);
    CHECK(model.at(n).speedup() ==
          Approx((1 - std::pow(alpha, n + 1)) / ((1 - alpha) * (n * c + 1))));
  }
  CHECK(model.at(0).speedup() == 1);
  CHECK(model.best().drafts == 2);  // 1.364, 1.458, 1.442, 1.384
  CHECK(model.facts.acceptance() == Approx(0.5));
  CHECK(model.step_cost() == Approx(1.4));
  CHECK(model.speedup() == Approx(1.9375 / 1.4));
  // 1 + a + a² + a³ + a⁴ = 1.4
  const double needed = *model.needed();
  CHECK(chain_tokens(needed, 4) == Approx(1.4));
}

TEST_CASE("cost model: dear rows make drafts a loss, and none is then the best number") {
  const CostModel model = cost_model(chain(), typed(0.6, 0), {});
  CHECK(model.at(1).speedup() == Approx(1.5 / 1.6));
  CHECK(model.best().drafts == 0);
  CHECK(model.best().speedup() == 1);
  CHECK(model.needed());  // 1 + a + … + a⁴ = 3.4
  CHECK_FALSE(cost_model(chain(), typed(1.1, 0), {}).needed());
}

TEST_CASE("cost model: places of a tree earn by measured conditional acceptance") {
  SpeculationFacts facts = chain();
  facts.steps = facts.drafting = 100;
  facts.places.groups = {group("1", 100, 60), group("2", 100, 20), group("1.1", 60, 30),
                         group("1.2", 60, 6), group("2.1", 20, 10)};
  std::string order;
  for (const PlaceYield& place : place_yields(facts)) order += place.place + " ";
  CHECK(order == "1 1.1 2 2.1 1.2 ");
  const CostModel model = cost_model(facts, typed(0.1, 0.05), {});
  CHECK(model.at(3).tokens == Approx(1 + 0.6 + 0.3 + 0.2));
  CHECK(model.at(3).levels == 2);
  CHECK(model.at(3).cost == Approx(1.3 + 0.05 * 2));
  // Where half of the steps find nothing to draft, half of the forwards are plain ones.
  facts.drafting = 50;
  facts.places.groups = {group("1", 50, 30)};
  const CostModel half = cost_model(facts, typed(0.1, 0.05), {});
  CHECK(half.at(1).tokens == Approx(1.3));
  CHECK(half.at(1).cost == Approx(0.5 + 0.5 * 1.1 + 0.5 * 0.05));
}

TEST_CASE("cost model: the facts of a run, and where its costs come from") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const auto facts = speculation_facts(run, run.end_tick());
  REQUIRE(facts);
  CHECK(facts->steps == 2);
  CHECK(facts->drafting == 2);
  CHECK(facts->tokens == 4);
  CHECK(facts->rows == 10);
  CHECK(facts->levels == 4);
  CHECK(facts->forward_us == 2000);
  CHECK(facts->drafter_us == 4000);
  CHECK(facts->acceptance() == Approx(0.5));
  CHECK_FALSE(facts->by_level);
  // Two forwards of one size tell nothing, and the capture has no row costs: a GPU's are left.
  const CostModel model = cost_model(*facts, {}, {});
  CHECK(model.from == CostsFrom::kGpu);
  const double forward = 1 + 4.0 / 33;
  CHECK(model.forward_cost() == Approx(forward));
  CHECK(model.one_row_us == Approx(1000 / forward));
  CHECK(model.round == Approx(2 * forward));
  CHECK(model.step_cost() == Approx(3 * forward));
  CHECK(cost_model(*facts, {}, RowCosts{5, 0.2, 0.3, 0.5}).from == CostsFrom::kModel);
  CHECK(cost_model(*facts, {}, {}, MeasuredForwards{ForwardCosts({{1, 1}, {2, 1.5}}), 500, 9})
            .timed == 9);
  CHECK_FALSE(speculation_facts(test::beam_capture(), test::beam_capture().end_tick()));
  CHECK_FALSE(recorded_row_costs(run));
}

TEST_CASE("cost model: runs add up, and the first step of a range counts") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  auto sum = *speculation_facts(run, run.end_tick(), std::pair{1, 1});
  CHECK(sum.steps == 1);
  CHECK(sum.rows == 5);
  add_speculation(sum, *speculation_facts(run, run.end_tick(), std::pair{2, 2}));
  const auto both = *speculation_facts(run, run.end_tick());
  CHECK(sum.steps == both.steps);
  CHECK(sum.tokens == both.tokens);
  CHECK(sum.acceptance() == both.acceptance());
  CHECK(sum.times.at(5).size() == 2);
}

TEST_CASE("cost model: a choice of costs is a text, and back") {
  CHECK(cost_choice_text({}) == "from=run");
  CHECK(cost_choice_text(read_cost_choice("from=gpu;round=0.25")) == "from=gpu;round=0.25");
  const std::string text = "from=typed;rows=0.2,0.33,0.5,5;experts=0.8,0.125";
  CHECK(cost_choice_text(read_cost_choice(text)) == text);
  CHECK(cost_choice_text(read_cost_choice("from=nonsense;rows=1;x;=;round=-1")) ==
        "from=run;round=0");
}

}  // namespace
}  // namespace triescope::viz::test_cost_model
