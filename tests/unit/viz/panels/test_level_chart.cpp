// The chart of acceptance by level: its shares, cases and intervals.
#include <doctest/doctest.h>

#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/panels/level_chart.h"

namespace triescope::viz::test_level_chart {
namespace {

using capture::make_tick;
using capture::Phase;

TEST_CASE("level chart: each level's share is of the places reached, as the cursor has seen them") {
  const auto chart = make_level_chart();
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const auto at = [&](std::int32_t step) {
    return test::scene_at(run, make_tick(step + 1, Phase::kDraft));
  };
  CHECK(chart->csv(at(0)) == "level,reached,accepted,share,low,high\n");
  CHECK(chart->csv(at(1)).starts_with("level,reached,accepted,share,low,high\n1,1,1,1,"));
  // Both steps accepted a draft of level 1, and refused the one below it.
  const std::string csv = chart->csv(at(2));
  CHECK(csv.find("\n1,2,2,1,") != std::string::npos);
  CHECK(csv.find("\n2,2,0,0,0,") != std::string::npos);
  CHECK(csv.find("\n3,") == std::string::npos);
  const auto canvas = test::drawn(*chart, at(2), {0, 0, 600, 300});
  CHECK(test::find(canvas, "2 of 2"));
  CHECK(test::find(canvas, "0 of 2"));
  // A range of steps limits it.
  Scene second = at(2);
  second.range = {2, 2};
  CHECK(chart->csv(second).find("\n1,1,1,1,") != std::string::npos);
  CHECK(test::find(test::drawn(*chart, test::scene_at(run, 0), {0, 0, 600, 300}),
                   chart->info().empty));
}

}  // namespace
}  // namespace triescope::viz::test_level_chart
