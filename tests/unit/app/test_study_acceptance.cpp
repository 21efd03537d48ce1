// A study's acceptance: what counts as one method, what a filter leaves, failures and bars.
#include <doctest/doctest.h>

#include "app/cli/acceptance_report.h"
#include "app/study/study_acceptance.h"
#include "app/study/study_variants.h"
#include "tests/support/refusal.h"
#include "tests/unit/app/study_rig.h"
#include "viz/text/csv_columns.h"

namespace triescope::app::test_study_acceptance {
namespace {

TEST_CASE_FIXTURE(MadeStudy, "study acceptance: every value of a sweep is a method of its own") {
  const auto methods = study_acceptance(out, rows, viz::AcceptanceBy::kDepth);
  REQUIRE(methods.size() == 3);
  CHECK(methods[0].name == "greedy");
  CHECK(methods[1].name == "lookup, prompt_lookup_num_tokens = 2");
  CHECK(methods[2].name == "lookup, prompt_lookup_num_tokens = 4");
  for (const MethodAcceptance& method : methods) CHECK(method.runs == 2);  // prompts
  // With two drafts at most there is no third level.
  CHECK(methods[1].acceptance.groups.size() <= 2);
  const auto yields = study_tree_yields(out, rows);
  REQUIRE(yields.size() == 3);
  CHECK(yields[2].name == methods[2].name);
}

TEST_CASE_FIXTURE(MadeStudy, "study acceptance: a filter leaves the runs for which it holds") {
  const auto some = study_acceptance(out, rows, viz::AcceptanceBy::kDepth,
                                     {.where = "prompt_lookup_num_tokens = 4 and prompt = 1"});
  REQUIRE(some.size() == 1);
  CHECK(some.front().name == "lookup");  // no other value is left
  CHECK(some.front().runs == 1);
  const auto said = test::refusal(ErrorCode::kInvalidArgument, [&] {
    study_acceptance(out, rows, viz::AcceptanceBy::kDepth, {.where = "prompt = 99"});
  });
  CHECK(test::has(said,
                  "expected a condition that holds for some run; found none for 'prompt = 99'"));
}

TEST_CASE_FIXTURE(MadeStudy, "study acceptance: failures name their method and capture") {
  const std::string csv = study_failures_csv(out, rows, viz::AcceptanceBy::kRefused);
  CHECK(csv.starts_with("name,capture,step,node,parent,"));
  std::int64_t refused = 0;
  for (const MethodAcceptance& method : study_acceptance(out, rows, viz::AcceptanceBy::kRefused))
    if (!method.acceptance.groups.empty()) refused += method.acceptance.groups.front().n;
  CHECK(std::count(csv.begin(), csv.end(), '\n') == refused + 1);
  CHECK(viz::with_columns("a", "1", "x,y\n2,3\n", true) == "a,x,y\n1,2,3\n");
  CHECK(viz::with_columns("a", "1", "x,y\n2,3\n", false) == "1,2,3\n");
}

TEST_CASE_FIXTURE(MadeStudy,
                  "study acceptance: bars are the groups, by method, with their intervals") {
  const auto methods = study_acceptance(out, rows, viz::AcceptanceBy::kDepth);
  std::vector<AcceptanceSeries> series;
  for (const MethodAcceptance& method : methods)
    series.push_back({method.name, &method.acceptance});
  const viz::BarChart chart = acceptance_bars(viz::AcceptanceBy::kDepth, series);
  CHECK(chart.series == std::vector<std::string>{methods[1].name, methods[2].name});
  for (std::size_t g = 0; g < chart.groups.size(); ++g)
    for (const viz::AcceptanceGroup& group : methods[2].acceptance.groups) {
      if (group.label != chart.groups[g]) continue;
      REQUIRE(chart.values[g][1]);
      CHECK(chart.values[g][1]->mean == group.share());
      CHECK(chart.values[g][1]->low == group.interval().low);
      CHECK(chart.values[g][1]->n == group.n);
    }
}

}  // namespace
}  // namespace triescope::app::test_study_acceptance
