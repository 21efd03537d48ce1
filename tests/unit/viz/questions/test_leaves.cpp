// The ends of the paths in force at a cursor.
#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/viz/captures.h"
#include "viz/questions/leaves.h"

namespace triescope::viz {
namespace {

TEST_CASE("leaves: the live frontier while the run goes on, best first") {
  const capture::Capture& run = test::beam_capture();
  for (std::int32_t step = 0; step < run.last_step(); ++step) {
    const auto leaves = leaves_at(run, capture::make_tick(step + 1, capture::Phase::kDraft));
    const auto frontier = run.frontier(step);
    CAPTURE(step);
    REQUIRE(leaves.size() == frontier.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      CHECK(leaves[i].node == frontier[i].node);
      CHECK(leaves[i].rank == static_cast<std::int32_t>(i));
      CHECK(leaves[i].score == frontier[i].score);
      CHECK_FALSE(leaves[i].returned);
      CHECK(leaves[i].finish.empty());
    }
  }
}

TEST_CASE("leaves: the returned sequences once they are there, not a tick earlier") {
  const capture::Capture& run = test::beam_capture();
  // Beams that only finished on the way have no rank.
  std::vector<capture::SequenceRow> results;
  for (const capture::SequenceRow& row : run.sequences())
    if (row.rank >= 0) results.push_back(row);
  REQUIRE(results.size() == 3);
  const capture::Tick returned = results.front().tick;
  const auto before = leaves_at(run, returned), after = leaves_at(run, returned + 1);
  REQUIRE_FALSE(before.empty());
  CHECK_FALSE(before.front().returned);
  REQUIRE(after.size() == results.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    CHECK(after[i].returned);
    CHECK(after[i].rank == static_cast<std::int32_t>(i));
    CHECK(after[i].finish == "length");
    CHECK(after[i].node == results[i].node);
    CHECK(after[i].score == results[i].score);
  }
}

TEST_CASE("leaves: nothing before the first step has decided") {
  CHECK(leaves_at(test::beam_capture(), 0).empty());
  CHECK(leaves_at(test::beam_capture(), capture::make_tick(0, capture::Phase::kAccept)).empty());
}

}  // namespace
}  // namespace triescope::viz
