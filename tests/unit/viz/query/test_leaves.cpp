// The ends of the paths in force at a cursor.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "viz/query/leaves.h"

namespace triescope::viz::test_leaves {
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
  // Beams that finished on the way, and were not returned, have no rank.
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

// Records three steps; the last one only finishes sequences and leaves no frontier.
void record_last_step(test::Recorder& out) {
  using namespace test;
  out.write({.run = synthetic_info(2, "beam", "Trie beam search", "recycle")});
  std::vector<NodeRow> nodes = {{.node = 0}};
  for (std::int32_t i = 1; i <= 4; ++i)
    nodes.push_back(
        {.node = i, .parent = 0, .token = i, .depth = 1, .tick = make_tick(0, Phase::kAccept)});
  out.write({.nodes = nodes});
  const auto phases = [&](int step) {
    for (int phase = 0; phase < kPhaseCount; ++phase)
      out.write({.phases = {{.tick = make_tick(step, static_cast<Phase>(phase))}}});
  };
  phases(0);
  out.write(
      {.frontier = {{.rank = 0, .node = 1, .score = -1}, {.rank = 1, .node = 2, .score = -2}}});
  const auto finished = [&](int step, std::int32_t node, float score) {
    out.write({.sequences = {{.tick = make_tick(step, Phase::kAccept),
                              .node = node,
                              .score = score,
                              .finish = "eos",
                              .tokens = {1}}}});
  };
  finished(1, 4, -0.1f);
  phases(1);
  out.write({.frontier = {{.step = 1, .rank = 0, .node = 1, .score = -1}}});
  finished(2, 1, -3);
  finished(2, 2, -1);
  finished(2, 3, -1);
  phases(2);
  out.write({.finish = Finish{RunStatus::kDone, ""}});
}

TEST_CASE("leaves: a last step that only finished shows its own, best score first") {
  const auto opened = test::make_capture(record_last_step);
  const capture::Capture& run = *opened->capture;
  const auto leaves = leaves_at(run, capture::make_tick(3, capture::Phase::kDraft));
  std::vector<std::pair<std::int32_t, float>> found;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    found.emplace_back(leaves[i].node, leaves[i].score);
    CHECK(leaves[i].rank == static_cast<std::int32_t>(i));
    CHECK_FALSE(leaves[i].returned);
    CHECK(leaves[i].finish == "eos");
  }
  // Node 4 finished a step before; of equal scores the first stays first.
  CHECK(found == std::vector<std::pair<std::int32_t, float>>{{2, -1}, {3, -1}, {1, -3}});
  // The accept phase decides: before it the frontier of step 1 is in force.
  const auto before = leaves_at(run, capture::make_tick(2, capture::Phase::kAccept));
  REQUIRE(before.size() == 1);
  CHECK(before[0].node == 1);
  CHECK(before[0].score == -1);
  CHECK(before[0].finish.empty());
  const auto at = leaves_at(run, capture::make_tick(2, capture::Phase::kAccept) + 1);
  CHECK(at.size() == 3);
}

}  // namespace
}  // namespace triescope::viz::test_leaves
