// Acceptance by what one chooses: by hand over a small run, and computed again over kept ones.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/support/fixtures.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/query/acceptance.h"
#include "viz/query/row_entropy.h"
#include "viz/query/token_kind.h"

namespace triescope::viz::test_acceptance {
namespace {

using capture::make_tick;
using capture::Phase;

// "1 2/3, 2 0/1": label, accepted, n.
std::string words(const Acceptance& acceptance) {
  std::string text;
  for (const AcceptanceGroup& group : acceptance.groups)
    text += (text.empty() ? "" : ", ") + group.label + " " + std::to_string(group.accepted) + "/" +
            std::to_string(group.n);
  if (acceptance.unknown) text += " unknown " + std::to_string(acceptance.unknown);
  return text;
}

TEST_CASE("acceptance: groups of a small run, counted by hand") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const auto by = [&](AcceptanceBy what) {
    return words(acceptance_by(run, what, run.end_tick()));
  };
  CHECK(by(AcceptanceBy::kDepth) == "1 2/2, 2 0/2");
  CHECK(by(AcceptanceBy::kRank) == "1 1/4, 2 1/2");
  CHECK(by(AcceptanceBy::kTree) == "1 1/2, 2 1/2, 1.1 0/1, 2.1 0/1");
  CHECK(by(AcceptanceBy::kSource) == "eagle2 2/6");
  CHECK(by(AcceptanceBy::kPosition) == "0 to 15 2/4");
  CHECK(by(AcceptanceBy::kKind) == "letters 2/4");
  CHECK(by(AcceptanceBy::kEntropy) == " unknown 4");  // no row of the target is recorded
  CHECK(by(AcceptanceBy::kQ) ==
        "0.1 to 0.2 0/1, 0.4 to 0.5 1/1, 0.5 to 0.6 0/1, 0.6 to 0.7 0/1, 0.9 to 1 1/2");
}

TEST_CASE("acceptance: it has seen what the cursor has, of the steps in range") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const auto at = [&](capture::Tick cursor) {
    return words(acceptance_by(run, AcceptanceBy::kDepth, cursor));
  };
  CHECK(at(make_tick(1, Phase::kAccept)) == "");
  CHECK(at(make_tick(1, Phase::kCommit)) == "1 1/1, 2 0/1");
  CHECK(at(run.end_tick()) == "1 2/2, 2 0/2");
  CHECK(words(acceptance_by(run, AcceptanceBy::kRank, run.end_tick(), {{2, 2}})) == "1 0/2, 2 1/1");
}

TEST_CASE("acceptance: a case says where it was") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  const Acceptance ranks = acceptance_by(run, AcceptanceBy::kRank, run.end_tick());
  std::vector<std::pair<int, int>> refused;
  for (const AcceptanceCase& one : ranks.groups[0].cases)
    if (!one.accepted) refused.emplace_back(one.step, one.node);
  CHECK(refused == std::vector<std::pair<int, int>>{{1, 4}, {2, 7}, {2, 9}});
}

TEST_CASE("acceptance: groups of two runs add up") {
  const capture::Capture& run = test::withdrawn_drafts_capture();
  for (int i = 0; i < kAcceptanceByCount; ++i) {
    const auto by = static_cast<AcceptanceBy>(i);
    CAPTURE(to_string(by));
    CHECK(acceptance_by_name(to_string(by)) == by);
    const Acceptance whole = acceptance_by(run, by, run.end_tick());
    Acceptance sum = acceptance_by(run, by, run.end_tick(), {{2, 2}});
    add_acceptance(sum, acceptance_by(run, by, run.end_tick(), {{1, 1}}));
    CHECK(words(sum) == words(whole));
  }
  CHECK_FALSE(acceptance_by_name("deepness"));
}

// The drafts that a step verified at places that its text got to, straight from the rows.
struct Verified {
  int step, node, parent;
  bool accepted;
};
std::vector<Verified> verified_in(const capture::Capture& run) {
  std::vector<Verified> all;
  for (const capture::StepRow& step : run.steps()) {
    std::map<int, bool> fell;  // by node: accepted
    for (const capture::VerdictRow& row : run.verdicts(step.step))
      if (row.verdict == capture::Verdict::kAccepted || row.verdict == capture::Verdict::kRejected)
        if (capture::is_draft(run.nodes()[static_cast<std::size_t>(row.node)]) &&
            capture::phase_of(row.tick) == Phase::kAccept)
          fell[row.node] = row.verdict == capture::Verdict::kAccepted;
    for (const auto& [node, accepted] : fell) {
      const int parent = run.nodes()[static_cast<std::size_t>(node)].parent;
      if (const auto above = fell.find(parent); above == fell.end() || above->second)
        all.push_back({step.step, node, parent, accepted});
    }
  }
  return all;
}

TEST_CASE("acceptance: recomputed from the rows of kept runs") {
  const test::TempDir folder;
  int with_drafts = 0;
  for (const char* name : test::kKeptCaptures) {
    CAPTURE(name);
    const auto run = capture::Capture::open(test::copy_of_capture(name, folder));
    const std::vector<Verified> drafts = verified_in(*run);
    with_drafts += !drafts.empty();
    std::set<std::pair<int, int>> places;
    std::int64_t accepted = 0;
    std::map<int, std::pair<int, int>> by_position;  // first of 16: accepted, places
    for (const Verified& draft : drafts) {
      accepted += draft.accepted;
      const int first = run->nodes()[static_cast<std::size_t>(draft.parent)].depth / 16 * 16;
      by_position[first].first += draft.accepted;
      by_position[first].second += places.emplace(draft.step, draft.parent).second;
    }
    for (int i = 0; i < kAcceptanceByCount; ++i) {
      const auto by = static_cast<AcceptanceBy>(i);
      if (is_of_causes(by)) continue;  // shares of other things: test_draft_causes.cpp
      CAPTURE(to_string(by));
      const Acceptance all = acceptance_by(*run, by, run->end_tick());
      std::int64_t n = all.unknown, taken = 0;
      for (const AcceptanceGroup& group : all.groups) {
        n += group.n;
        taken += group.accepted;
        CHECK(group.cases.size() == static_cast<std::size_t>(group.n));
        for (const AcceptanceCase& one : group.cases) {
          const capture::NodeRow& node = run->nodes()[static_cast<std::size_t>(one.node)];
          if (by == AcceptanceBy::kEntropy) {
            const double entropy = entropy_of(run->candidates(node.parent, run->end_tick()));
            CHECK(entropy >= group.order);
          }
          if (by == AcceptanceBy::kKind && one.accepted)
            CHECK(group.label == to_string(token_kind(run->piece(node.token))));
        }
      }
      CHECK(n == static_cast<std::int64_t>(is_of_places(by) ? places.size() : drafts.size()));
      if (!all.unknown) CHECK(taken == accepted);
      if (by != AcceptanceBy::kPosition) continue;
      REQUIRE(all.groups.size() == by_position.size());
      auto expected = by_position.begin();
      for (const AcceptanceGroup& group : all.groups) {
        CHECK(group.order == expected->first);
        CHECK(group.accepted == expected->second.first);
        CHECK(group.n == expected->second.second);
        ++expected;
      }
    }
  }
  CHECK(with_drafts >= 5);
}

TEST_CASE("token kind: the first that fits, by the token's letters") {
  const auto kind = [](std::string_view bytes) {
    return std::string(to_string(token_kind(bytes)));
  };
  CHECK(kind(" the") == "letters");
  CHECK(kind("n't") == "letters");
  CHECK(kind("\xC3\xA9t\xC3\xA9") == "letters");
  CHECK(kind(" 1") == "digits");
  CHECK(kind("1,") == "digits");
  CHECK(kind("3D") == "letters");
  CHECK(kind(",") == "punctuation");
  CHECK(kind("\xE2\x80\x99") == "punctuation");
  CHECK(kind(" \n") == "white space");
  CHECK(kind("") == "white space");
  CHECK(kind("()") == "code");
  CHECK(kind("snake_case") == "code");
  CHECK(kind("\xE2\x82") == "bytes");
}

}  // namespace
}  // namespace triescope::viz::test_acceptance
