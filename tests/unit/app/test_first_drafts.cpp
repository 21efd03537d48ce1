// First drafts of a run by the place where they hang, and how many two runs share.
#include <doctest/doctest.h>

#include <cmath>

#include "app/session/first_drafts.h"
#include "app/session/head_readings.h"

namespace triescope::app::test_first_drafts {
namespace {

using capture::NodeRow;
using capture::Source;

NodeRow node(std::int32_t id, std::int32_t parent, std::int32_t token, Source source,
             capture::Tick tick) {
  return {.node = id, .parent = parent, .token = token, .source = source, .tick = tick};
}

// "8" of the prompt's row; in step 1 drafts 1, 2 below it and 3 below 1, of which 1 is accepted and
// followed by 4; in step 2 drafts 5 and 6 below that.
const std::vector<NodeRow> kNodes = {
    node(0, -1, -1, Source::kRoot, 0), node(1, 0, 8, Source::kGreedy, 2),
    node(2, 1, 1, Source::kDraft, 5),  node(3, 1, 2, Source::kDraft, 5),
    node(4, 2, 3, Source::kDraft, 5),  node(5, 2, 4, Source::kCorrected, 7),
    node(6, 5, 5, Source::kDraft, 10), node(7, 5, 6, Source::kDraft, 10)};

const auto kAll = [](const NodeRow&) { return true; };

TEST_CASE("first drafts: those of the first level, by the text that they hang below") {
  CHECK(first_drafts(kNodes, kAll) == FirstDrafts{{{8}, {1, 2}}, {{8, 1, 4}, {5, 6}}});
  CHECK(first_drafts(kNodes, [](const NodeRow& row) { return row.token != 2; }) ==
        FirstDrafts{{{8}, {1}}, {{8, 1, 4}, {5, 6}}});
  CHECK(first_drafts(kNodes, [](const NodeRow&) { return false; }).empty());
}

TEST_CASE("first drafts: the share that two runs have in common, as many as the shorter list has") {
  const FirstDrafts a = {{{8}, {1, 2}}, {{8, 1}, {5, 6, 7}}, {{9}, {1}}};
  CHECK(sameness(a, a).places == 3);
  CHECK(sameness(a, a).share == 1);
  const Sameness half = sameness(a, {{{8}, {2}}, {{8, 1}, {5, 9}}, {{7}, {1}}});
  CHECK(half.places == 2);
  CHECK(half.share == doctest::Approx(1.0 / 3));  // not 2, which is the second; 5 of 5 and 6
  CHECK(sameness(a, {}).places == 0);
}

TEST_CASE("readings: the trained one is clearly better, the used one drafts the same and alone") {
  const auto reading = [](double tokens, double same) {
    return TriedReading{.name = "", .tokens_per_forward = tokens, .same_drafts = same};
  };
  const double none = std::nan("");
  CHECK(trained_reading({reading(2, none), reading(2.05, none)}) == 0);
  CHECK(trained_reading({reading(2, none), reading(2.1, none), reading(2.2, none)}) == 2);
  CHECK_FALSE(used_reading({reading(2, none), reading(2, none)}));
  CHECK_FALSE(used_reading({reading(2, 0.5), reading(2, 0.8)}));
  CHECK(used_reading({reading(2, 0.5), reading(2, 0.97)}) == 1);
  CHECK_FALSE(used_reading({reading(2, 0.5), reading(2, 0.97), reading(2, 0.96)}));
  CHECK(used_reading({reading(2, 0.99), reading(2, 1), reading(2, 0.2)}) == 0);
}

}  // namespace
}  // namespace triescope::app::test_first_drafts
