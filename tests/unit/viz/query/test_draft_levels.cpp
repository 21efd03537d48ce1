// The drafts of a step, level by level, for a run made by hand.
#include "viz/query/draft_levels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/unit/viz/two_owners.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/query/leaves.h"

namespace triescope::viz::test_draft_levels {
namespace {

using capture::make_tick;
using capture::Phase;
using test::withdrawn_drafts_capture;

std::vector<std::int32_t> nodes_of(const std::vector<StepDraft>& drafts) {
  std::vector<std::int32_t> nodes;
  for (const StepDraft& draft : drafts) nodes.push_back(draft.node);
  return nodes;
}

DraftLevels levels_at(std::int32_t step, capture::Tick cursor) {
  const capture::Capture& run = withdrawn_drafts_capture();
  return draft_levels(run, step, cursor, text_at(run, cursor));
}

using Ids = std::vector<std::int32_t>;

TEST_CASE(
    "draft levels: a step's drafts are those it hung and those it found again, with level and score") {
  const capture::Capture& run = withdrawn_drafts_capture();
  const auto one = step_drafts(run, 1, run.end_tick());
  CHECK(nodes_of(one) == Ids{2, 3, 4, 5, 6, 7});
  const Ids levels = {1, 1, 2, 2, 2, 3};
  const std::vector<float> scores = {-0.1f, -2.0f, -0.6f, -2.4f, -0.3f, -0.4f};
  for (std::size_t i = 0; i < one.size(); ++i) {
    CAPTURE(i);
    CHECK(one[i].level == levels[i]);
    CHECK(one[i].score == doctest::Approx(scores[i]));
    CHECK(one[i].frontier == 1);
  }
  // 6 is text by then; 7 was withdrawn below it and is proposed again.
  const auto two = step_drafts(run, 2, run.end_tick());
  CHECK(nodes_of(two) == Ids{7, 8, 9, 10});
  for (const StepDraft& draft : two) CHECK(draft.frontier == 6);
  CHECK(two[0].level == 1);
  CHECK(two[2].level == 2);
  CHECK(two[3].score == doctest::Approx(-0.4f));
  CHECK(step_drafts(run, 0, run.end_tick()).empty());
  CHECK(step_drafts(run, 3, run.end_tick()).empty());
}

TEST_CASE("draft levels: a cursor inside the step knows what was drafted by then") {
  const capture::Capture& run = withdrawn_drafts_capture();
  CHECK(step_drafts(run, 1, make_tick(1, Phase::kDraft)).empty());
  CHECK(nodes_of(step_drafts(run, 1, make_tick(1, Phase::kForward))) == Ids{2, 3, 4, 5, 6, 7});
  // 7 is proposed again: the head's own row says so before the forward reads it.
  CHECK(nodes_of(step_drafts(run, 2, make_tick(2, Phase::kForward))) == Ids{7, 8, 9, 10});
  CHECK(nodes_of(step_drafts(run, 2, make_tick(2, Phase::kForward) + 1)) == Ids{7, 8, 9, 10});
}

TEST_CASE("draft levels: a drafter that recorded no probabilities leaves the score open") {
  const auto drafts = step_drafts(test::two_owner_capture(), 1, make_tick(2, Phase::kDraft));
  REQUIRE(nodes_of(drafts) == Ids{2, 3, 4});
  CHECK(drafts[0].frontier == 1);
  CHECK(drafts[2].level == 2);
  CHECK(std::isfinite(drafts[0].score) == std::isfinite(drafts[1].score));
}

TEST_CASE("draft levels: the text at a cursor is the path of the best leaf") {
  const capture::Capture& run = withdrawn_drafts_capture();
  CHECK(text_at(run, 0).empty());
  CHECK(text_at(run, make_tick(1, Phase::kDraft)) == Ids{1});
  CHECK(text_at(run, make_tick(2, Phase::kDraft)) == Ids{1, 2, 6});
  CHECK(text_at(run, run.end_tick()) == Ids{1, 2, 6, 8, 11});
}

TEST_CASE(
    "draft levels: before anything is decided levels hold their drafts, likeliest first, and no guess") {
  const DraftLevels levels = levels_at(1, make_tick(1, Phase::kForward));
  REQUIRE(levels.levels.size() == 3);
  CHECK(levels.step == 1);
  CHECK(nodes_of(levels.levels[0].drafts) == Ids{2, 3});
  CHECK(nodes_of(levels.levels[1].drafts) == Ids{6, 4, 5});
  CHECK(nodes_of(levels.levels[2].drafts) == Ids{7});
  CHECK(levels.levels[0].withdrawn.empty());
  CHECK(levels.levels[1].withdrawn == Ids{6});
  CHECK(levels.levels[2].withdrawn == Ids{7});
  for (const DraftLevel& level : levels.levels) {
    CHECK(level.guess == Guess::kUnknown);
    CHECK(level.came == -1);
    CHECK(level.place == -1);
    CHECK(level.depth == level.level + 1);
  }
}

TEST_CASE(
    "draft levels: what came is told from what was withdrawn, missed and right below another parent") {
  const auto guess = [](const DraftLevels& levels, std::size_t level) {
    return levels.levels.at(level - 1).guess;
  };
  const DraftLevels soon = levels_at(1, make_tick(2, Phase::kDraft));
  CHECK(guess(soon, 1) == Guess::kCame);
  CHECK(soon.levels[0].place == 0);
  CHECK(soon.levels[0].came == 2);
  CHECK(guess(soon, 2) == Guess::kWithdrawn);
  CHECK(soon.levels[1].place == 0);
  CHECK(guess(soon, 3) == Guess::kUnknown);
  const capture::Tick end = withdrawn_drafts_capture().end_tick();
  const DraftLevels one = levels_at(1, end);
  CHECK(guess(one, 3) == Guess::kMissed);
  CHECK(one.levels[2].came == 8);
  CHECK(one.levels[2].place == -1);
  const DraftLevels two = levels_at(2, end);
  CHECK(guess(two, 1) == Guess::kCame);
  CHECK(two.levels[0].place == 1);
  CHECK(guess(two, 2) == Guess::kElsewhere);
  CHECK(two.levels[1].came == 11);
  CHECK(two.levels[1].place == 0);
  CHECK(levels_at(3, end).levels.empty());
}

}  // namespace
}  // namespace triescope::viz::test_draft_levels
