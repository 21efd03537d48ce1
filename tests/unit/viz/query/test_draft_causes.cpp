// Why drafts failed: every cause by hand, and the words that other places have for them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/viz/failed_drafts.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/narration/reason_text.h"
#include "viz/panels/acceptance_rows.h"
#include "viz/query/acceptance_causes.h"
#include "viz/query/draft_causes.h"
#include "viz/query/drafter_view.h"

namespace triescope::viz::test_draft_causes {
namespace {

using capture::make_tick;
using capture::Phase;

std::string words(const std::vector<DraftFailure>& failures) {
  std::string text;
  for (const DraftFailure& one : failures)
    text += (text.empty() ? "" : " ") + std::to_string(one.step) + ":" + to_string(one.cause);
  return text;
}

TEST_CASE("draft causes: one of each, by places and by drafts") {
  const capture::Capture& run = test::failed_drafts_capture();
  CHECK(words(draft_failures(run, AcceptanceBy::kCause, run.end_tick())) ==
        "1:not_in_vocabulary 2:withdrawn 3:ranked_below 4:unlisted 5:near_tie 6:draw");
  CHECK(words(draft_failures(run, AcceptanceBy::kRefused, run.end_tick())) ==
        "1:not_in_vocabulary 2:withdrawn 3:ranked_below 4:unlisted 5:near_tie 6:draw "
        "7:sibling 7:parent_refused");
}

TEST_CASE("draft causes: rank, q and path of what came are the drafter's") {
  const capture::Capture& run = test::failed_drafts_capture();
  const auto places = draft_failures(run, AcceptanceBy::kCause, run.end_tick());
  REQUIRE(places.size() == 6);
  CHECK(places[1].rank == 1);
  CHECK(places[1].q == doctest::Approx(0.25));
  CHECK(places[1].score == doctest::Approx(std::log(0.25)));
  CHECK(places[1].p == doctest::Approx(0.8));
  CHECK(places[2].rank == 2);
  CHECK(places[2].q == doctest::Approx(0.1));
  CHECK(std::isnan(places[2].score));
  CHECK(places[3].rank == -1);
  CHECK(std::isnan(places[3].q));
}

TEST_CASE("draft causes: the cursor and the range limit them") {
  const capture::Capture& run = test::failed_drafts_capture();
  CHECK(words(draft_failures(run, AcceptanceBy::kCause, make_tick(2, Phase::kAccept))) ==
        "1:not_in_vocabulary");
  CHECK(words(draft_failures(run, AcceptanceBy::kCause, run.end_tick(), {{3, 4}})) ==
        "3:ranked_below 4:unlisted");
}

TEST_CASE("draft causes: as groups they have one n, and a cause that is none counts none") {
  const capture::Capture& run = test::failed_drafts_capture();
  const Acceptance causes = acceptance_by(run, AcceptanceBy::kCause, run.end_tick());
  CHECK(causes.groups.size() == 7);
  for (const AcceptanceGroup& group : causes.groups) {
    CAPTURE(group.label);
    CHECK(group.n == 6);
    CHECK(group.accepted == (group.label == words_of(DraftCause::kNotProposed) ? 0 : 1));
  }
  const Acceptance refused = acceptance_by(run, AcceptanceBy::kRefused, run.end_tick());
  CHECK(refused.groups.size() == kDraftCauseCount);
  CHECK(refused.groups.front().n == 8);
}

TEST_CASE("draft causes: a table has a row a failure") {
  const capture::Capture& run = test::failed_drafts_capture();
  const std::string csv =
      failures_csv(run, draft_failures(run, AcceptanceBy::kCause, run.end_tick(), {{2, 2}}));
  CHECK(
      csv.starts_with("step,node,parent,token,text,cause,p,drafter_rank,drafter_q,drafter_score\n"
                      "2,5,3,22,"));
  CHECK(csv.find(",withdrawn,0.8,2,0.25,-1.38629") != std::string::npos);
}

TEST_CASE("draft causes: the decision says what the head does not know") {
  const capture::Capture& run = test::failed_drafts_capture();
  const auto views = drafter_views(run, 1, run.end_tick());
  const DrafterView& view = views.at(3);
  CHECK(view.unknown_of == 63);
  CHECK(drafter_reason(view, capture::Verdict::kCorrected) ==
        "not among the 63 tokens that the head knows");
  CHECK(views.at(2).unknown_of == 0);
}

TEST_CASE("draft causes: a near tie is said of the refused draft and of what came") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const auto failed = draft_failures(run, AcceptanceBy::kRefused, run.end_tick(), {{2, 2}});
  const auto tied = std::find_if(failed.begin(), failed.end(), [](const DraftFailure& one) {
    return one.cause == DraftCause::kNearTie;
  });
  REQUIRE(tied != failed.end());
  const auto places = draft_failures(run, AcceptanceBy::kCause, run.end_tick(), {{2, 2}});
  REQUIRE(places.size() == 1);
  const auto views = explained_views(run, 2, run.end_tick());
  for (const std::int32_t node : {tied->node, places.front().node}) {
    CHECK(views.at(node).tied == tied->node);
    CHECK(views.at(node).tie == doctest::Approx(1));
  }
  CHECK(tie_reason(views.at(tied->node), capture::Verdict::kRejected) ==
        "a near tie: 1.00 of the p of what came");
  CHECK(tie_reason(views.at(places.front().node), capture::Verdict::kCorrected) ==
        "a near tie: the refused draft has 1.00 of its p");
  // Before the decision nothing is known of it, and drafter_views() alone looks for none.
  for (const auto& [node, view] :
       explained_views(run, 2, capture::make_tick(2, capture::Phase::kAccept)))
    CHECK(view.tied == -1);
  CHECK(drafter_views(run, 2, run.end_tick()).at(tied->node).tied == -1);
  CHECK(tie_reason({}, capture::Verdict::kRejected).empty());
}

TEST_CASE("draft causes: where all is equally likely, it is a tie") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  CHECK(words(draft_failures(run, AcceptanceBy::kCause, run.end_tick())) ==
        "1:near_tie 2:near_tie");
  CHECK(words(draft_failures(run, AcceptanceBy::kRefused, run.end_tick())) ==
        "1:sibling 1:near_tie 1:parent_refused 2:sibling 2:near_tie 2:parent_refused");
}

}  // namespace
}  // namespace triescope::viz::test_draft_causes
