// Recorded drafts judged again, against what methods really do: every drafting method with its own
// settings, and runs that were really made with fewer drafts.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "tests/unit/app/recorded_run.h"
#include "viz/query/rejudge.h"

namespace triescope::test::test_rejudge_runs {
namespace {

using viz::FollowEnd;
using viz::NotKnown;
using viz::Rejudged;
using viz::RejudgedStep;

TEST_CASE("rejudge: every drafting method with its own settings is what was recorded") {
  int runs = 0;
  for (const MethodInfo& method : methods()) {
    if (method.kind != RunKind::kDrafts) continue;
    for (const char* verify :
         {"greedy", "sample", "chain", "block", "multi_round", "typical", "top_k"}) {
      CAPTURE(method.name);
      CAPTURE(verify);
      const TempDir dir;
      const std::string path =
          record({.method = method.name,
                  .settings = settings_of(
                      method, {{"verify", verify}, {"num_draft", 6}, {"accept_top_k", 2}}),
                  .model = chained()},
                 dir);
      if (path.empty()) continue;
      const auto run = Capture::open(path);
      const Rejudged same = viz::rejudge(*run, viz::recorded_settings(*run), run->end_tick());
      for (const RejudgedStep& step : same.steps) {
        CAPTURE(step.step);
        const auto row = run->step(step.step);
        CHECK(step.sent == row->drafted);
        REQUIRE(std::string(words_of(step.not_known)).empty());
        CHECK(step.accepted == row->accepted);
        CHECK(step.tokens == row->emitted);
        CHECK(step.followed);
      }
      CHECK(same.end == FollowEnd::kTextEnds);
      ++runs;
    }
  }
  CHECK(runs > 40);
}

struct Fewer {
  std::string method;
  json large, small;
  std::string name, value;  // what makes the one of the other
};

TEST_CASE("rejudge: fewer drafts are what a run with fewer drafts accepts at the same places") {
  const Fewer cases[] = {
      {"ngram_trie", {{"num_draft", 8}}, {{"num_draft", 2}}, "num_draft", "2"},
      {"suffix_automaton", {{"num_draft", 6}}, {{"num_draft", 2}}, "num_draft", "2"},
      {"prompt_lookup",
       {{"prompt_lookup_num_tokens", 6}},
       {{"prompt_lookup_num_tokens", 2}},
       "prompt_lookup_num_tokens",
       "2"},
      {"draft_model",
       {{"num_assistant_tokens", 5}},
       {{"num_assistant_tokens", 2}},
       "num_assistant_tokens",
       "2"},
      {"medusa", {{"tree", "0;1;0,0;0,1"}}, {{"tree", "0;0,0"}}, "tree", "0;0,0"},
      {"eagle", {{"tree", "0;1;0,0;0,1;0,0,0"}}, {{"tree", "0;1"}}, "tree", "0;1"},
      {"eagle2",
       {{"draft_tokens", 8}, {"draft_top_k", 3}, {"draft_levels", 4}},
       {{"draft_tokens", 3}, {"draft_top_k", 3}, {"draft_levels", 4}},
       "draft_tokens",
       "3"},
      {"eagle2",
       {{"draft_tokens", 6}, {"draft_top_k", 3}, {"draft_levels", 4}},
       {{"draft_tokens", 6}, {"draft_top_k", 3}, {"draft_levels", 2}},
       "draft_levels",
       "2"},
      {"eagle2",
       {{"draft_tokens", 6}, {"draft_top_k", 3}, {"draft_levels", 4}},
       {{"draft_tokens", 6}, {"draft_top_k", 2}, {"draft_levels", 4}},
       "draft_top_k",
       "2"},
  };
  for (const Fewer& one : cases) {
    CAPTURE(one.method);
    CAPTURE(one.name);
    const TempDir dir, other;
    const MethodInfo& method = find_method(one.method);
    RunResult large, small;
    const std::string path = record({.method = one.method,
                                     .settings = settings_of(method, one.large),
                                     .model = chained(),
                                     .max_new_tokens = 30},
                                    dir, &large);
    const std::string fewer = record({.method = one.method,
                                      .settings = settings_of(method, one.small),
                                      .model = chained(),
                                      .max_new_tokens = 30},
                                     other, &small);
    REQUIRE(!path.empty());
    REQUIRE(!fewer.empty());
    REQUIRE(large.sequences.front().tokens == small.sequences.front().tokens);
    const auto run = Capture::open(path), real = Capture::open(fewer);
    viz::RejudgeSettings settings = viz::recorded_settings(*run);
    viz::set_rejudge(settings, *run, one.name, one.value);
    const Rejudged judged = viz::rejudge(*run, settings, run->end_tick());
    std::map<std::int32_t, StepRow> by_position;  // the real run's steps
    for (const StepRow& row : real->steps())
      if (row.step > 0)
        by_position[real->nodes()[static_cast<std::size_t>(
                                      real->frontier(row.step - 1).front().node)]
                        .depth] = row;
    int met = 0;
    for (const RejudgedStep& step : judged.steps) {
      const auto at = by_position.find(step.position);
      if (at == by_position.end()) continue;
      CAPTURE(step.step);
      REQUIRE(step.not_known == NotKnown::kNothing);
      CHECK(step.sent == at->second.drafted);
      CHECK(step.accepted == at->second.accepted);
      CHECK(step.tokens == at->second.emitted);
      ++met;
    }
    CHECK(met > 0);
    // The steps that it followed are the real run's first ones.
    std::int64_t forwards = 0;
    for (const auto& [position, row] : by_position) forwards += position < judged.end_position;
    CHECK(judged.followed == forwards);
    CHECK(judged.followed > 0);
  }
}

}  // namespace
}  // namespace triescope::test::test_rejudge_runs
