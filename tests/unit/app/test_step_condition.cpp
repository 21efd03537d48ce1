// Conditions on steps: what their names stand for, over kept captures; what is refused; and that a
// run which is being recorded answers like its capture.
#include "app/session/step_condition.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/fixtures.h"
#include "tests/support/refusal.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/mixture_run.h"
#include "viz/query/draft_places.h"
#include "viz/query/row_entropy.h"

namespace triescope::app::test_step_condition {
namespace {

using capture::Capture;
using capture::Verdict;
using Steps = std::vector<std::int32_t>;

const Capture& kept(const std::string& name) {
  static const test::TempDir folder;
  static std::map<std::string, std::unique_ptr<Capture>> opened;
  auto& one = opened[name];
  if (!one) one = Capture::open(test::copy_of_capture(name, folder));
  return *one;
}

std::vector<StepMatch> all_where(const Capture& capture, const std::string& text) {
  return steps_where(capture, StepCondition(text), 0, capture.last_step());
}
Steps steps_of(const std::vector<StepMatch>& matches) {
  Steps steps;
  for (const StepMatch& match : matches) steps.push_back(match.step);
  return steps;
}
template <class Passes>
Steps steps_that(const Capture& capture, Passes passes) {
  Steps steps;
  for (const capture::StepRow& row : capture.steps())
    if (passes(row)) steps.push_back(row.step);
  return steps;
}

TEST_CASE(
    "step condition: figures of a step are those of its row, and nothing of a node is asked") {
  const Capture& run = kept("draft_chain");
  const auto found = all_where(run, "accepted >= 1 and refused > 0");
  CHECK_FALSE(found.empty());
  CHECK(steps_of(found) == steps_that(run, [](const capture::StepRow& row) {
          return row.accepted >= 1 && row.drafted > row.accepted;
        }));
  for (const StepMatch& match : found) CHECK(match.nodes == Steps{-1});
  CHECK(steps_of(all_where(run, "step = 3 or step = 1")) == Steps{1, 3});
  CHECK(all_where(run, "accepted > 1000").empty());
}

TEST_CASE("step condition: a depth is that of the acceptance panel, and reached means its places") {
  for (const char* name : {"draft_chain", "draft_tree", "ngram_trie"}) {
    CAPTURE(name);
    const Capture& run = kept(name);
    for (int level = 1; level <= 3; ++level) {
      const std::string text = "depth = " + std::to_string(level) +
                               " and reached and (verdict = 'accepted' or verdict = 'rejected')";
      std::set<std::int32_t> expected, found;
      for (const capture::StepRow& row : run.steps())
        for (const viz::DraftPlace& place : viz::draft_places(run, row.step, run.end_tick()))
          if (place.level == level) expected.insert(place.drafts.begin(), place.drafts.end());
      for (const StepMatch& match : all_where(run, text))
        found.insert(match.nodes.begin(), match.nodes.end());
      CHECK(found == expected);
    }
  }
}

// Whether a verdict of the step about the node passes.
template <class Passes>
bool is_judged(const Capture& run, std::int32_t step, std::int32_t node, Passes passes) {
  for (const capture::VerdictRow& verdict : run.verdicts(step))
    if (verdict.node == node && passes(verdict)) return true;
  return false;
}

TEST_CASE("step condition: verdict, reason, token and p are those of the rows") {
  for (const char* name : {"draft_tree", "short_chain", "self_beam"}) {
    CAPTURE(name);
    const Capture& run = kept(name);
    std::set<std::string> verdicts, reasons;
    std::map<std::string, std::set<std::int32_t>> nodes_by_verdict;
    for (const capture::StepRow& row : run.steps())
      for (const capture::VerdictRow& verdict : run.verdicts(row.step)) {
        verdicts.insert(to_string(verdict.verdict));
        nodes_by_verdict[to_string(verdict.verdict)].insert(verdict.node);
        if (verdict.reason != capture::Reason::kNone) reasons.insert(to_string(verdict.reason));
      }
    CHECK(verdicts.size() >= 2);
    for (const std::string& verdict : verdicts) {
      std::set<std::int32_t> found;
      for (const StepMatch& match : all_where(run, "verdict = '" + verdict + "'"))
        found.insert(match.nodes.begin(), match.nodes.end());
      CHECK(found == nodes_by_verdict[verdict]);
    }
    for (const std::string& reason : reasons) {
      const auto matches = all_where(run, "reason = \"" + reason + "\"");
      CHECK_FALSE(matches.empty());
      for (const StepMatch& match : matches)
        for (const std::int32_t node : match.nodes)
          CHECK(is_judged(run, match.step, node, [&](const capture::VerdictRow& row) {
            return to_string(row.reason) == reason;
          }));
    }
    const capture::NodeRow& some = run.nodes()[5];
    std::set<std::int32_t> with_token;
    for (const StepMatch& match : all_where(run, "token_id = " + std::to_string(some.token)))
      with_token.insert(match.nodes.begin(), match.nodes.end());
    for (const std::int32_t node : with_token)
      CHECK(run.nodes()[static_cast<std::size_t>(node)].token == some.token);
    CHECK(with_token.contains(5));
    const auto likely = all_where(run, "p > 0.2");
    for (const StepMatch& match : likely)
      for (const std::int32_t node : match.nodes)
        CHECK(is_judged(run, match.step, node, [&](const capture::VerdictRow& row) {
          return row.p > 0.2f ||
                 (row.p < 0 && std::exp(run.node_at(node, match.cursor()).row.logprob) > 0.2f);
        }));
  }
}

TEST_CASE("step condition: entropy is that of the row from which the node follows") {
  const Capture& run = kept("self_beam");
  std::size_t count = 0;
  for (const StepMatch& match : all_where(run, "entropy > 1"))
    for (const std::int32_t node : match.nodes) {
      ++count;
      const std::int32_t parent = run.nodes()[static_cast<std::size_t>(node)].parent;
      CHECK(viz::entropy_of(run.candidates(parent, match.cursor())) > 1);
    }
  CHECK(count > 0);
}

TEST_CASE(
    "step condition: a metric of a node or of the step, by any name; one that the run lacks") {
  const auto run = test::make_capture([](capture::Recorder& out) {
    capture::RunInfo info;
    info.method = "own";
    info.settings_json = info.model_json = info.versions_json = "{}";
    info.prompt_tokens = {1};
    out.write(
        {.run = info,
         .nodes = {{.node = 0}, {.node = 1, .parent = 0, .token = 1, .depth = 1, .tick = 2}}});
    capture::RowTables rows;
    for (int step = 0; step < 3; ++step) rows.steps.push_back({.step = step, .emitted = 1});
    rows.metrics = {{.tick = 1, .node = -1, .name = "surprise", .value = 0.5},
                    {.tick = 6, .node = -1, .name = "surprise", .value = 2.5},
                    {.tick = 11, .node = 1, .name = "head norm", .value = 7}};
    for (capture::Tick tick = 0; tick < 15; ++tick) rows.phases.push_back({.tick = tick});
    out.write(rows);
    out.write({.finish = capture::Finish{}});
  });
  CHECK(steps_of(all_where(*run->capture, "metric(\"surprise\") > 1")) == Steps{1});
  const auto of_node = all_where(*run->capture, "metric(\"head norm\") >= 7");
  REQUIRE(of_node.size() == 1);
  CHECK(of_node[0].step == 2);
  CHECK(of_node[0].nodes == Steps{1});
  const std::string said = test::refusal(ErrorCode::kInvalidArgument, [&] {
    StepCondition("metric(\"suprise\") > 1").check_metrics(*run->capture);
  });
  CHECK(said ==
        "the run has no metric 'suprise'; did you mean surprise?; it has surprise, head norm");
}

TEST_CASE("step condition: what is wrong is said with its column, and what was meant") {
  const auto said = [](const std::string& text) {
    return test::refusal(ErrorCode::kCorruption, [&] { StepCondition{text}; });
  };
  CHECK(said("acepted > 1") ==
        "column 1: 'acepted' is not a name of a step or of a node that it decides; did you mean "
        "accepted?; docs/find.md lists them");
  CHECK(test::has(said("depth > 1 and verdict = \"rejcted\""),
                  "column 25: 'rejcted' is no verdict; did you mean rejected?"));
  CHECK(test::has(said("reason = 'not_argmx'"), "did you mean not_argmax?"));
  CHECK(said("token > 3") == "column 7: cannot compare a text with a number");
  CHECK(said("depth") == "column 1: expected true or false; found a number");
  CHECK(said("depth > ") == "column 9: expected a number, a text, a name or '('; found the end");
  CHECK(test::has(said("accepted(3) > 1"), "'accepted' stands alone here"));
  CHECK(StepCondition("reached and token holds 'x'").text() == "reached and token holds 'x'");
}

TEST_CASE("step condition: a step of a mixture may be asked for the experts that it read") {
  CHECK(steps_of(all_where(test::mixture_capture(), "experts_read > experts_alone")) == Steps{1});
  CHECK(steps_of(all_where(test::mixture_capture(), "experts_read = 2")) == Steps{2});
  CHECK(steps_of(all_where(kept("draft_chain"), "experts_read > 0")).empty());
}

TEST_CASE("step condition: where something is divided by 0 it is not true") {
  const Capture& run = kept("draft_chain");
  CHECK(steps_of(all_where(run, "accepted / drafted > 0")) ==
        steps_that(run, [](const capture::StepRow& row) { return row.accepted > 0; }));
}

TEST_CASE("step condition: a step that is being recorded has the values of the capture") {
  for (const Capture* const run :
       {&kept("draft_tree"), &kept("self_beam"), &kept("self_chain"), &test::mixture_capture()}) {
    StepGatherer gatherer;
    capture::RowTables all;
    all.run = run->run();
    all.drafters.assign(run->drafters().begin(), run->drafters().end());
    gatherer.add(all);
    for (const capture::StepRow& step : run->steps()) {
      for (int phase = 0; phase < capture::kPhaseCount; ++phase) {
        const capture::Tick tick =
            capture::make_tick(step.step, static_cast<capture::Phase>(phase));
        capture::RowTables rows;
        for (const capture::NodeRow& node : run->nodes())
          if (node.tick == tick) {
            rows.nodes.push_back(node);
            const auto later = run->node_at(node.node, run->end_tick()).row;
            if (!std::isnan(later.logprob))
              rows.node_scores.push_back({node.node, later.logprob, later.score, tick});
          }
        for (const capture::VerdictRow& row : run->verdicts(step.step))
          if (row.tick == tick) rows.verdicts.push_back(row);
        for (const capture::ExpertRow& row : run->experts(step.step))
          if (row.tick == tick) rows.experts.push_back(row);
        for (const capture::Whose whose : run->owners())
          for (const capture::CandidateRow& row : run->candidates_of(step.step, whose))
            if (row.tick == tick) rows.candidates.push_back(row);
        if (phase == capture::kPhaseCount - 1) rows.steps = {step};
        gatherer.add(rows);
        if (phase == 2) {  // refused memory: the same rows come again
          gatherer.undo();
          gatherer.add(rows);
        }
      }
      const auto facts = gatherer.finished(
          [&](std::int32_t token) -> std::optional<std::string_view> { return run->piece(token); });
      REQUIRE(facts);
      for (const char* text :
           {"verdict = 'rejected' and depth >= 2", "entropy > 1 and position > 5", "q < 0.9",
            "accepted >= 1 and refused > 0", "not reached", "source holds 'a' and rank = 1",
            "experts_read > experts_alone"}) {
        CAPTURE(text);
        const auto recorded = match_in_step(*run, StepCondition(text), step.step);
        CHECK(StepCondition(text).matches(*facts) == (recorded ? recorded->nodes : Steps{}));
      }
    }
  }
}

}  // namespace
}  // namespace triescope::app::test_step_condition
