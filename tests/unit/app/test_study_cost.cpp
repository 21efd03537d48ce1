// Whether a study's drafts pay, and its bar charts: against the table and the captures of a small
// study.
#include <doctest/doctest.h>

#include "app/study/study_chart.h"
#include "app/study/study_cost.h"
#include "app/study/study_figures.h"
#include "core/capture/capture.h"
#include "tests/support/refusal.h"
#include "tests/unit/app/study_rig.h"

namespace triescope::app::test_study_cost {
namespace {

viz::CostChoice typed(double row, double round) {
  viz::CostChoice choice;
  choice.from = viz::CostsFrom::kTyped;
  choice.typed = {.second_row = row, .cheap_row = row, .dear_row = row};
  choice.round = round;
  return choice;
}

TEST_CASE_FIXTURE(
    MadeStudy,
    "study cost: the steps of a method's runs, repeats once, and the measured speed-up") {
  viz::CostChoice choice = typed(0.1, 0);
  CHECK_FALSE(study_cost(out, rows, {.baseline = "greedy"}, choice).series.front().measured);
  choice.from = viz::CostsFrom::kMeasured;
  choice.measured = viz::ForwardCosts(choice.typed);
  const StudyCost cost = study_cost(out, rows, {.baseline = "greedy"}, choice);
  REQUIRE(cost.series.size() == 2);  // one of each setting; greedy drafts nothing
  for (const int num : {2, 4}) {
    const viz::CostSeries& lookup = cost.series[num == 2 ? 0 : 1];
    CHECK(lookup.name == "lookup, prompt_lookup_num_tokens = " + std::to_string(num));
    CHECK(lookup.runs == 2);  // prompts
    const auto is_of_it = [&](const StudyRow& row) {
      return row.at("name") == "lookup" && row.at("settings").at("prompt_lookup_num_tokens") == num;
    };
    std::int64_t steps = 0, tokens = 0, target_rows = 0;
    for (const StudyRow& row : rows) {
      if (!is_of_it(row) || row.at("repeat") != 1) continue;
      const auto run =
          capture::Capture::open(out + "/captures/" + row.at("capture").get<std::string>());
      for (const capture::StepRow& step : run->steps())
        if (step.step > 0) ++steps, tokens += step.emitted, target_rows += step.forward_rows;
      CHECK(viz::recorded_row_costs(*run)->cheap_rows == cost.row_costs->cheap_rows);
    }
    const viz::SpeculationFacts& facts = lookup.model.facts;
    CHECK(facts.steps == steps);
    CHECK(facts.tokens == tokens);
    CHECK(facts.rows == target_rows);
    const double price = 1 + 0.1 * (facts.mean_rows() - 1);
    CHECK(lookup.model.step_cost() == doctest::Approx(price));
    CHECK(lookup.model.speedup() ==
          doctest::Approx(static_cast<double>(tokens) / static_cast<double>(steps) / price));
    double speedups = 0;  // as the table has them
    for (const StudyRow& row : folded_rows(rows, "greedy"))
      if (is_of_it(row)) speedups += row.at("speedup").get<double>() / 2;
    REQUIRE(lookup.measured);
    CHECK(lookup.measured->mean == doctest::Approx(speedups));
    CHECK(lookup.measured->low < lookup.measured->mean);
  }
}

TEST_CASE_FIXTURE(MadeStudy,
                  "study cost: a filter chooses the runs, and the ruler stays that of all") {
  const StudyFilter four{.where = "prompt_lookup_num_tokens = 4 and category = 'more'",
                         .baseline = "greedy"};
  const StudyCost some = study_cost(out, rows, four, {});
  const StudyCost all = study_cost(out, rows, {.baseline = "greedy"}, {});
  REQUIRE(some.series.size() == 1);
  CHECK(some.series.front().name == "lookup");  // no other setting is left
  CHECK(some.series.front().runs == 1);
  CHECK(some.series.front().measured.has_value());
  CHECK(some.series.front().model.one_row_us == all.series.front().model.one_row_us);
  CHECK(test::has(test::refusal(ErrorCode::kInvalidArgument,
                                [&] { study_cost(out, rows, {.where = "category = 'none'"}, {}); }),
                  "expected a condition that holds for some run"));
}

TEST_CASE_FIXTURE(MadeStudy, "study cost: the forwards of all methods tell what a row costs") {
  const StudyCost cost = study_cost(out, rows, {.baseline = "greedy"}, {});
  std::int64_t forwards = 0;
  for (const StudyRow& row : rows) forwards += row.at("steps").get<std::int64_t>() - 1;
  CHECK(cost.series.front().model.from == viz::CostsFrom::kRun);
  CHECK(cost.series.front().model.timed <= forwards);
  CHECK(cost.series.front().model.timed > forwards / 2);
  CHECK(cost.series.front().model.one_row_us > 0);
  const std::vector<StudyRow> greedy(rows.begin(), rows.begin() + 1);
  CHECK(test::has(test::refusal(ErrorCode::kInvalidArgument,
                                [&] { study_cost(out, greedy, {.baseline = "greedy"}, {}); }),
                  "expected runs that draft and captures"));
}

TEST_CASE_FIXTURE(MadeStudy, "study chart: bars are the means of the table, by one column or two") {
  const viz::BarChart chart =
      study_bars(rows, "greedy", "", {"category", "name"}, "tokens_per_forward");
  CHECK(chart.groups == std::vector<std::string>{"letters", "more"});
  CHECK(chart.series == std::vector<std::string>{"greedy", "lookup"});
  for (const StudyRow& group : grouped_rows(folded_rows(rows, "greedy"), {"category", "name"})) {
    const auto at = [](const std::vector<std::string>& list, const std::string& name) {
      return static_cast<std::size_t>(std::find(list.begin(), list.end(), name) - list.begin());
    };
    const auto& bar =
        chart.values[at(chart.groups, group.at("category"))][at(chart.series, group.at("name"))];
    REQUIRE(bar);
    CHECK(bar->mean == group.at("tokens_per_forward"));
    CHECK(bar->n == group.at("runs"));
  }
  const viz::BarChart drafting =
      study_bars(rows, "greedy", "name != \"greedy\"", {"name"}, "accepted_per_step");
  CHECK(drafting.groups == std::vector<std::string>{"lookup"});
  CHECK(drafting.series == std::vector<std::string>{""});
  const auto said = [&](const std::vector<std::string>& by, const std::string& column) {
    return test::refusal(ErrorCode::kInvalidArgument,
                         [&] { study_bars(rows, "greedy", "", by, column); });
  };
  CHECK(test::has(said({"name"}, "acepted_per_step"), "did you mean accepted_per_step?"));
  CHECK(test::has(said({"name", "category", "prompt"}, "speedup"), "found 3"));
  CHECK(test::has(said({"name"}, "levels_gained"), "levels_gained"));
}

TEST_CASE_FIXTURE(MadeStudy, "study chart: a picture says of which study and model it is") {
  const StudyProvenance made = study_provenance(out + "/", rows, "a title", "speedup");
  CHECK(made.facts.at(0) == std::pair<std::string, std::string>("Title", "speedup, a title"));
  CHECK(made.facts.at(1) == std::pair<std::string, std::string>("Model", "one.gguf"));
  CHECK(made.created.size() == std::string("2026-01-02T03:04:05Z").size());
}

}  // namespace
}  // namespace triescope::app::test_study_cost
