// The choices of a beam search step, for a run made by hand: two beams; token 9 ends a text.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "viz/query/beam_decision.h"

namespace triescope::viz::test_beam_decision {
namespace {

using namespace capture;
using Fate = BeamChoice::Fate;
using test::make_capture;

constexpr std::int32_t kEnd = 9;

struct Candidate {
  std::int32_t node, token;
  float logprob;
};

// Records a step: its candidates come with the forward, then the nodes that were chosen.
class Steps {
 public:
  explicit Steps(Recorder& out, std::int32_t max_new_tokens = 8,
                 std::string settings = R"({"num_beams":2})",
                 std::string model = R"({"eos_token_ids":[9]})")
      : out_(out) {
    RunInfo info;
    info.method = "beam";
    info.kind = RunKind::kBeams;
    info.width = 2;
    info.settings_json = std::move(settings);
    info.model_json = std::move(model);
    info.max_new_tokens = max_new_tokens;
    info.prompt_tokens = {1};
    out_.write({.run = info, .nodes = {{}}});
  }
  void step(const std::vector<Candidate>& candidates, const std::vector<NodeRow>& nodes,
            const std::vector<VerdictRow>& verdicts) {
    phase(Phase::kDraft);
    std::vector<CandidateRow> rows;
    std::int32_t rank = 0;
    for (const Candidate& c : candidates) {
      rank = !rows.empty() && rows.back().node == c.node ? rank + 1 : 0;
      rows.push_back({.tick = make_tick(step_, Phase::kForward),
                      .node = c.node,
                      .rank = rank,
                      .token = c.token,
                      .logprob = c.logprob});
    }
    out_.write({.candidates = rows});
    phase(Phase::kForward);
    const Tick accept = make_tick(step_, Phase::kAccept);
    std::vector<FrontierRow> frontier;
    for (NodeRow node : nodes) {
      node.tick = accept;
      node.source = Source::kBeam;
      out_.write({.nodes = {node}});
    }
    for (VerdictRow verdict : verdicts) {
      verdict.tick = accept;
      out_.write({.verdicts = {verdict}});
      if (verdict.verdict != Verdict::kKept) continue;
      frontier.push_back({.step = step_,
                          .rank = static_cast<std::int32_t>(frontier.size()),
                          .node = verdict.node,
                          .score = verdict.score});
    }
    out_.write({.frontier = frontier});
    phase(Phase::kAccept);
    phase(Phase::kCommit);
    phase(Phase::kObserve);
    ++step_;
  }

 private:
  void phase(Phase phase) { out_.write({.phases = {{.tick = make_tick(step_, phase)}}}); }
  Recorder& out_;
  std::int32_t step_ = 0;
};

NodeRow node(std::int32_t id, std::int32_t parent, std::int32_t token, std::int32_t depth,
             float logprob, float score) {
  return {.node = id,
          .parent = parent,
          .token = token,
          .depth = depth,
          .logprob = logprob,
          .score = score};
}
VerdictRow kept(std::int32_t id, float score) {
  return {.node = id, .verdict = Verdict::kKept, .score = score};
}

void record(Recorder& out) {
  Steps steps(out);
  steps.step({{0, 1, -0.5f}, {0, 2, -1.0f}, {0, 3, -1.5f}},
             {node(1, 0, 1, 1, -0.5f, -0.5f), node(2, 0, 2, 1, -1.0f, -1.0f)},
             {kept(1, -0.5f), kept(2, -1.0f)});
  steps.step({{1, 3, -0.2f},
              {1, kEnd, -0.9f},
              {1, 4, -2.0f},
              {2, 5, -0.3f},
              {2, kEnd, -0.8f},
              {2, 4, -1.0f}},
             {node(3, 1, 3, 2, -0.2f, -0.7f), node(4, 2, 5, 2, -0.3f, -1.3f)},
             {kept(3, -0.7f), kept(4, -1.3f)});
  steps.step({{3, kEnd, -0.1f}, {3, 6, -0.5f}, {4, 7, -0.1f}, {4, 8, -0.4f}},
             {node(5, 3, kEnd, 3, -0.1f, -0.8f), node(6, 3, 6, 3, -0.5f, -1.2f),
              node(7, 4, 7, 3, -0.1f, -1.4f)},
             {{.node = 5, .verdict = Verdict::kFinished, .score = -0.27f},
              kept(6, -1.2f),
              kept(7, -1.4f)});
}

const Capture& by_hand() {
  static const auto opened = make_capture(record);
  return *opened->capture;
}

// "parent token Σ fate Δ" a row.
std::vector<std::string> rows_of(const BeamDecision& decision) {
  static const char* const kNames[] = {"next",   "finishing", "kept", "finished",
                                       "pruned", "out",       "late"};
  std::vector<std::string> rows;
  for (const BeamChoice& c : decision.choices) {
    char text[80];
    std::snprintf(text, sizeof text, "%d %d %.2f %s %.2f", c.parent, c.token,
                  static_cast<double>(c.score), kNames[static_cast<int>(c.fate)],
                  std::isnan(c.gap) ? -1.0 : static_cast<double>(c.gap));
    rows.push_back(text);
  }
  return rows;
}

TEST_CASE("beam decision: all candidates of all beams by Σ log p, with the cut and the distances") {
  const auto decision = beam_decision(by_hand(), make_tick(1, Phase::kCommit));
  CHECK(decision.step == 1);
  CHECK(decision.decided);
  CHECK(decision.width == 2);
  CHECK(rows_of(decision) == std::vector<std::string>{"1 3 -0.70 kept 1.30", "2 5 -1.30 kept 0.70",
                                                      "1 9 -1.40 late -1.00",
                                                      "2 9 -1.80 late -1.00", "2 4 -2.00 out 0.70",
                                                      "1 4 -2.50 out 1.20"});
  CHECK(decision.cut == 2);
  CHECK(decision.choices[0].child == 3);
  CHECK(decision.choices[1].child == 4);
  CHECK(decision.choices[4].child == -1);
  // Below -2.0 the second beam may have candidates that were not recorded.
  CHECK(decision.complete == 5);
}

TEST_CASE("beam decision: after the forward it says what is about to be chosen, as it then is") {
  for (std::int32_t step = 0; step < 3; ++step) {
    CAPTURE(step);
    const auto before = beam_decision(by_hand(), make_tick(step, Phase::kAccept));
    const auto after = beam_decision(by_hand(), make_tick(step, Phase::kCommit));
    CHECK(before.step == step);
    CHECK_FALSE(before.decided);
    CHECK(before.cut == after.cut);
    REQUIRE(before.choices.size() == after.choices.size());
    for (std::size_t i = 0; i < before.choices.size(); ++i) {
      CHECK(before.choices[i].token == after.choices[i].token);
      CHECK(before.choices[i].chosen() == after.choices[i].chosen());
      CHECK(before.choices[i].child == -1);
      CHECK((before.choices[i].gap == after.choices[i].gap ||
             std::isnan(before.choices[i].gap) == std::isnan(after.choices[i].gap)));
    }
  }
}

TEST_CASE("beam decision: what ends among the best finishes, and its place goes to the next") {
  const auto before = beam_decision(by_hand(), make_tick(2, Phase::kAccept));
  CHECK(rows_of(before) == std::vector<std::string>{"3 9 -0.80 finishing 0.90",
                                                    "3 6 -1.20 next 0.50", "4 7 -1.40 next 0.30",
                                                    "4 8 -1.70 out 0.30"});
  CHECK(before.cut == 3);
  const auto after = beam_decision(by_hand(), make_tick(2, Phase::kCommit));
  CHECK(rows_of(after) == std::vector<std::string>{"3 9 -0.80 finished 0.90", "3 6 -1.20 kept 0.50",
                                                   "4 7 -1.40 kept 0.30", "4 8 -1.70 out 0.30"});
}

TEST_CASE(
    "beam decision: the step before is shown until the next forward has run; at first nothing") {
  const Capture& run = by_hand();
  CHECK(decision_step(run, 0) == -1);
  CHECK(decision_step(run, make_tick(0, Phase::kForward)) == -1);
  CHECK(decision_step(run, make_tick(0, Phase::kAccept)) == 0);
  CHECK(decision_step(run, make_tick(1, Phase::kDraft)) == 0);
  CHECK(decision_step(run, make_tick(1, Phase::kForward)) == 0);
  CHECK(decision_step(run, make_tick(1, Phase::kAccept)) == 1);
  CHECK(beam_decision(run, make_tick(0, Phase::kForward)).step == -1);
  CHECK(beam_decision(run, make_tick(1, Phase::kForward)).step == 0);
  CHECK(beam_decision(run, make_tick(1, Phase::kForward)).decided);
}

TEST_CASE("beam decision: at max_new_tokens the best finish together and nothing goes on") {
  const auto opened = make_capture([](Recorder& out) {
    Steps steps(out, 1);
    steps.step({{0, 1, -0.5f}, {0, 2, -1.0f}, {0, 3, -1.5f}}, {}, {});
  });
  const auto decision = beam_decision(*opened->capture, make_tick(0, Phase::kAccept));
  CHECK(rows_of(decision) == std::vector<std::string>{"0 1 -0.50 finishing 1.00",
                                                      "0 2 -1.00 finishing 0.50",
                                                      "0 3 -1.50 out 0.50"});
  CHECK(decision.cut == 2);
}

TEST_CASE(
    "beam decision: a chosen token that is not among the recorded ones is listed with its node") {
  const auto opened = make_capture([](Recorder& out) {
    Steps steps(out);
    steps.step({{0, 1, -0.5f}}, {node(1, 0, 1, 1, -0.5f, -0.5f), node(2, 0, 6, 1, -3.0f, -3.0f)},
               {kept(1, -0.5f), kept(2, -3.0f)});
  });
  const auto decision = beam_decision(*opened->capture, make_tick(0, Phase::kCommit));
  CHECK(rows_of(decision) ==
        std::vector<std::string>{"0 1 -0.50 kept -1.00", "0 6 -3.00 kept -1.00"});
  CHECK(decision.choices[1].child == 2);
  CHECK(decision.complete == 1);
}

TEST_CASE(
    "beam decision: a beam that a pruning rule drops lies above the cut, and does not go on") {
  const auto opened = make_capture([](Recorder& out) {
    Steps steps(out);
    steps.step(
        {{0, 1, -0.5f}, {0, 2, -1.0f}, {0, 3, -1.5f}},
        {node(1, 0, 1, 1, -0.5f, -0.5f), node(2, 0, 2, 1, -1.0f, -1.0f)},
        {kept(1, -0.5f), {.node = 2, .verdict = Verdict::kPruned, .score = -1.0f, .gap = 0.5f}});
  });
  const auto decision = beam_decision(*opened->capture, make_tick(0, Phase::kCommit));
  CHECK(rows_of(decision) == std::vector<std::string>{"0 1 -0.50 kept 1.00",
                                                      "0 2 -1.00 pruned 0.50",
                                                      "0 3 -1.50 out 1.00"});
  CHECK(decision.cut == 2);
}

TEST_CASE("child of: a candidate is a child once its node is there; a draft once it was accepted") {
  const Capture& beams = by_hand();
  CHECK(child_of(beams, 1, 3, make_tick(1, Phase::kAccept)) == -1);
  CHECK(child_of(beams, 1, 3, make_tick(1, Phase::kCommit)) == 3);
  CHECK(child_of(beams, 1, 4, make_tick(2, Phase::kCommit)) == -1);
  const Capture& drafts = test::draft_capture();
  int accepted = 0, refused = 0;
  for (std::int32_t step = 1; step < drafts.last_step(); ++step)
    for (const VerdictRow& row : drafts.verdicts(step)) {
      const NodeRow& draft = drafts.nodes()[static_cast<std::size_t>(row.node)];
      if (!is_draft(draft)) continue;
      const Tick decided = make_tick(step, Phase::kCommit);
      CHECK(child_of(drafts, draft.parent, draft.token, make_tick(step, Phase::kAccept)) == -1);
      CHECK(child_of(drafts, draft.parent, draft.token, make_tick(step, Phase::kForward),
                     Whose::kDraft) >= 0);
      if (row.verdict == Verdict::kAccepted) {
        ++accepted;
        CHECK(child_of(drafts, draft.parent, draft.token, decided) == row.node);
      } else {
        ++refused;
        CHECK(child_of(drafts, draft.parent, draft.token, decided) != row.node);
      }
    }
  CHECK(accepted > 3);
  CHECK(refused > 3);
}

TEST_CASE("decision kind: beams, drafts where the step has any, else one draw") {
  CHECK(decision_kind(by_hand(), 1) == DecisionKind::kBeams);
  const Capture& drafts = test::draft_capture();
  for (const StepRow& row : drafts.steps()) {
    CAPTURE(row.step);
    CHECK(decision_kind(drafts, row.step) ==
          (row.drafted > 0 ? DecisionKind::kDrafts : DecisionKind::kDraw));
  }
  // With sampled_tokens the first tokens are drawn, and beams come after them.
  const auto opened = make_capture([](Recorder& out) {
    Steps steps(out, 8, R"({"num_beams":2,"sampled_tokens":1})");
    steps.step({{0, 1, -0.5f}}, {node(1, 0, 1, 1, -0.5f, -0.5f)}, {kept(1, -0.5f)});
    steps.step({{1, 2, -0.5f}}, {node(2, 1, 2, 2, -0.5f, -1.0f)}, {kept(2, -1.0f)});
  });
  CHECK(decision_kind(*opened->capture, 0) == DecisionKind::kDraw);
  CHECK(decision_kind(*opened->capture, 1) == DecisionKind::kBeams);
}

TEST_CASE("beam decision: complete down to the best of the beams' last recorded candidates") {
  const auto opened = make_capture([](Recorder& out) {
    Steps steps(out);
    steps.step({{0, 1, -0.5f}, {0, 2, -1.0f}},
               {node(1, 0, 1, 1, -0.5f, -0.5f), node(2, 0, 2, 1, -1.0f, -1.0f)},
               {kept(1, -0.5f), kept(2, -1.0f)});
    steps.step({{1, 3, -0.25f}, {1, 4, -0.5f}, {2, 5, -0.25f}, {2, 6, -2.0f}}, {}, {});
  });
  const auto decision = beam_decision(*opened->capture, make_tick(1, Phase::kAccept));
  REQUIRE(decision.choices.size() == 4);
  CHECK(decision.choices[1].score == -1.0f);  // the first beam's last: a third may be below
  CHECK(decision.complete == 2);
}

TEST_CASE("child of: what is the target's, not drafts that it refused, was not sent or waits for") {
  const auto opened = make_capture([](Recorder& out) {
    const Tick draft = make_tick(0, Phase::kDraft), accept = make_tick(0, Phase::kAccept);
    RowTables rows{.run = RunInfo{}, .nodes = {{}}};
    for (std::int32_t id = 1; id <= 4; ++id) {
      NodeRow row = node(id, 0, 10 + id, 1, 0, 0);
      row.source = Source::kDraft;
      row.tick = draft;
      rows.nodes.push_back(row);
    }
    NodeRow own =
        node(5, 0, 11, 1, 0, 0);  // the token that was refused as a draft, drawn after all
    own.source = Source::kCorrected;
    own.tick = accept;
    rows.nodes.push_back(own);
    const Verdict verdicts[] = {Verdict::kRejected, Verdict::kWithdrawn, Verdict::kAccepted};
    for (std::int32_t id = 1; id <= 3; ++id)
      rows.verdicts.push_back({.tick = accept, .node = id, .verdict = verdicts[id - 1]});
    out.write(rows);
  });
  const Capture& run = *opened->capture;
  const Tick accept = make_tick(0, Phase::kAccept);
  CHECK(child_of(run, 0, 11, accept + 1) == 5);
  CHECK(child_of(run, 0, 12, accept + 1) == -1);
  CHECK(child_of(run, 0, 13, accept + 1) == 3);
  CHECK(child_of(run, 0, 13, accept) == -1);
  CHECK(child_of(run, 0, 14, accept + 1) == -1);
  CHECK(child_of(run, 0, 99, accept + 1) == -1);
  for (std::int32_t id = 1; id <= 4; ++id)
    CHECK(child_of(run, 0, 10 + id, accept, Whose::kDraft) == id);
}

}  // namespace
}  // namespace triescope::viz::test_beam_decision
