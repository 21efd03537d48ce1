// Probes are nodes that never become text. They are drawn and named as probes, and all counts,
// lists and stories of drafts are the same with and without them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/draw/node_text.h"
#include "viz/export/run_data.h"
#include "viz/handout/handout.h"
#include "viz/layouts/trie_folds.h"
#include "viz/narration/narration.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"
#include "viz/panels/panel.h"
#include "viz/query/beam_decision.h"
#include "viz/query/comparison.h"
#include "viz/query/draft_levels.h"
#include "viz/query/draft_places.h"
#include "viz/query/leaves.h"
#include "viz/query/step_so_far.h"

namespace triescope::viz::test_probe_nodes {
namespace {

using namespace triescope::capture;

constexpr Tick kDraft1 = make_tick(1, Phase::kDraft), kForward1 = make_tick(1, Phase::kForward),
               kAccept1 = make_tick(1, Phase::kAccept);
constexpr std::int32_t kProbe = 5;  // the first probe

// The token of node i: probe 5 has draft 2's token, and 8 has one that nobody drafted.
constexpr std::int32_t kTokens[] = {-1, 10, 20, 21, 22, 20, 11, 21, 12};

// Node 1 is the text of step 0. Step 1 adds the drafts 2 (accepted), 3 below it (accepted, the end)
// and 4 (rejected). It may add probes: 5 and 6 in a chain below 1, 7 below 2 and 8 below 1.
void record(Recorder& out, bool drafts, bool probes) {
  RunInfo info = test::synthetic_info(2, "space", "SPACE", "recycle");
  RowTables rows{.run = info, .drafters = {{.name = "space", .title = "SPACE"}}};
  for (std::int32_t token = 10; token < 30; ++token)
    rows.pieces.push_back({token, "t" + std::to_string(token)});
  rows.nodes = {{}};
  const auto node = [&](std::int32_t parent, NodeRole role) {
    const auto id = static_cast<std::int32_t>(rows.nodes.size());
    const std::int32_t like = drafts || id < 2 ? id : id + 3;
    const bool known = id < kProbe && role == NodeRole::kCandidate;
    rows.nodes.push_back({.node = id,
                          .parent = parent,
                          .token = kTokens[like],
                          .depth = rows.nodes[static_cast<std::size_t>(parent)].depth + 1,
                          .logprob = known ? -0.5f : std::nanf(""),
                          .score = known ? -0.5f : std::nanf(""),
                          .source = id == 1 ? Source::kGreedy : Source::kDraft,
                          .tick = id == 1 ? make_tick(0, Phase::kAccept) : kDraft1,
                          .role = role,
                          .drafter = id == 1 ? -1 : 0});
    return id;
  };
  const auto verdict = [&](std::int32_t id, Verdict what, Tick tick) {
    rows.verdicts.push_back({.tick = tick, .node = id, .verdict = what, .p = 0.5f});
  };
  node(0, NodeRole::kCandidate);
  verdict(1, Verdict::kEmitted, make_tick(0, Phase::kAccept));
  if (drafts) {
    node(1, NodeRole::kCandidate);
    node(2, NodeRole::kCandidate);
    node(1, NodeRole::kCandidate);
    verdict(2, Verdict::kAccepted, kAccept1);
    verdict(3, Verdict::kAccepted, kAccept1);
    verdict(3, Verdict::kFinished, kAccept1);
    verdict(4, Verdict::kRejected, kAccept1);
  }
  if (probes) {
    const std::int32_t first = node(1, NodeRole::kProbe);
    node(first, NodeRole::kProbe);
    node(drafts ? 2 : 1, NodeRole::kProbe);
    node(1, NodeRole::kProbe);
  }
  rows.frontier = {{.step = 0, .node = 1, .score = -0.5f}};
  for (std::int32_t rank = 0; rank < 3; ++rank)
    rows.candidates.push_back({.tick = kForward1,
                               .node = 1,
                               .rank = rank,
                               .token = rank == 0   ? 20
                                        : rank == 1 ? 12
                                                    : 22,
                               .logprob = -0.5f - static_cast<float>(rank)});
  rows.slots = {{.tick = 1, .slot = 0, .node = -2}, {.tick = 1, .slot = 1, .node = -3}};
  rows.inputs = {{.step = 0, .node = -2, .slot = 0},
                 {.step = 0, .row = 1, .node = -3, .position = 1, .slot = 1}};
  for (std::size_t id = 1; id < rows.nodes.size(); ++id) {
    const auto row = static_cast<std::int32_t>(id);
    rows.inputs.push_back({.step = 1,
                           .row = row - 1,
                           .node = row,
                           .position = 1 + rows.nodes[id].depth,
                           .slot = row + 1,
                           .naive_position = row + 1});
    rows.slots.push_back({.tick = kForward1, .slot = row + 1, .node = row});
  }
  rows.memory = {{.step = 0, .live = 2, .reserved = 16}, {.step = 1, .live = 5, .reserved = 16}};
  rows.steps = {{.step = 0, .forward_rows = 2, .emitted = 1, .frontier = 1},
                {.step = 1,
                 .forward_rows = 4,
                 .drafted = drafts ? 3 : 0,
                 .accepted = drafts ? 2 : 0,
                 .emitted = drafts ? 2 : 1}};
  if (drafts)
    rows.sequences = {{.tick = make_tick(1, Phase::kObserve),
                       .node = 3,
                       .rank = 0,
                       .score = -1.5f,
                       .finish = "eos",
                       .tokens = {10, 20, 21}}};
  for (Tick tick = 0; tick < 10; ++tick)
    rows.phases.push_back({.tick = tick, .start_us = tick * 10, .duration_us = 10});
  rows.finish = Finish{};
  out.write(rows);
}

const Capture& run_with(bool drafts, bool probes) {
  static const auto make = [](bool d, bool p) {
    return test::make_capture([=](Recorder& out) { record(out, d, p); });
  };
  static const auto both = make(true, true), only_drafts = make(true, false),
                    only_probes = make(false, true);
  return *(drafts ? probes ? both : only_drafts : only_probes)->capture;
}

std::string told(const Capture& run, Tick tick) {
  return narration_as_text(narrate(run, tick + 1, Sentences::standard()));
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("probes: what counts, lists or judges drafts says the same with and without them") {
  const Capture& run = run_with(true, true);
  const Capture& plain = run_with(true, false);
  REQUIRE(run.nodes().size() == plain.nodes().size() + 4);
  for (Tick cursor = 0; cursor <= run.end_tick(); ++cursor) {
    CAPTURE(cursor);
    for (const char* name : {"verdict", "drafts", "candidates", "text", "timeline"}) {
      CAPTURE(name);
      const auto panel = make_panel(name);
      Scene with = test::scene_at(run, cursor), without = test::scene_at(plain, cursor);
      with.focus.locked = without.focus.locked = cursor > kDraft1 ? 1 : -1;
      CHECK(panel->csv(with) == panel->csv(without));
    }
    const StepSoFar step = step_so_far(run, 1, cursor);
    CHECK(step.drafted == (cursor > kDraft1 ? 3 : 0));
    CHECK(step.accepted == (cursor > kAccept1 ? 2 : 0));
    CHECK(level_acceptance(run, 1, cursor).size() == level_acceptance(plain, 1, cursor).size());
    for (const DraftLevel& level :
         draft_levels(run, 1, cursor, text_at(run, run.end_tick())).levels)
      for (const StepDraft& draft : level.drafts) CHECK(draft.node < kProbe);
  }
  for (std::int32_t step = 0; step < 2; ++step)
    CHECK(step_line(run, step, true) == step_line(plain, step, true));
  CHECK(decision_kind(run, 1) == DecisionKind::kDrafts);
  CHECK(decision_kind(run_with(false, true), 1) == DecisionKind::kDraw);
  // Only a probe has token 12.
  CHECK(child_of(run, 1, 12, run.end_tick()) == -1);
  CHECK(child_of(run, 1, 12, run.end_tick(), Whose::kHead) == -1);
  CHECK(child_of(run, 1, 20, run.end_tick()) == 2);
}

TEST_CASE("probes: a click on a candidate goes to the draft, never to a probe with its token") {
  const Capture& run = run_with(true, true);
  const auto panel = make_panel("candidates");
  Scene scene = test::scene_at(run, run.end_tick());
  scene.focus.locked = 1;
  const Rect area{0, 0, 500, 300};
  const auto canvas = test::drawn(*panel, scene, area);
  const auto clicked = [&](const std::string& token) {
    const auto* const text = test::find(canvas, token);
    REQUIRE(text);
    Input in = test::mouse_over(*text);
    in.clicked = true;
    return panel->input(in, area, scene).lock;
  };
  CHECK(clicked("t20") == 2);
  CHECK_FALSE(clicked("t12"));
}

TEST_CASE("probes: sentences count them apart from the drafts") {
  const Capture& run = run_with(true, true);
  CHECK(holds(told(run, kDraft1), "three drafts"));
  CHECK(holds(told(run, kDraft1), "Four probes go along: rows that never become text"));
  CHECK(holds(told(run, kForward1),
              "eight rows: one pending token, three drafts to be checked and four probes."));
  // A probe is no alternative to a draft, and has no place in the text.
  CHECK(holds(told(run, kForward1), "'t20' and 't22' are alternatives"));
  CHECK(holds(told(run, kForward1), "The row of 't22' sees"));
  CHECK(told(run, kAccept1) == told(run_with(true, false), kAccept1));

  const Capture& alone = run_with(false, true);
  CHECK(holds(told(alone, kDraft1), "nothing to propose"));
  CHECK(holds(told(alone, kDraft1), "Four probes go along"));
  CHECK(holds(told(alone, kForward1), "five rows: one pending token and four probes."));
  CHECK_FALSE(holds(told(run_with(true, false), kDraft1), "probe"));
  CHECK_FALSE(holds(told(run_with(true, false), kForward1), "probe"));
}

TEST_CASE("probes: they are drawn as what they are, with a legend of their own") {
  const Capture& run = run_with(true, true);
  const Rect area{0, 0, 1400, 500};
  for (const Tick cursor : {kDraft1 + 1, kForward1 + 1, kAccept1 + 1, run.end_tick()}) {
    CAPTURE(cursor);
    CHECK(run.state_at(kProbe, cursor) == NodeState::kProbe);
    for (const bool steady : {false, true})
      for (const char* name : {"trie", "mask"}) {
        if (cursor <= kForward1 && name == std::string("mask")) continue;
        CAPTURE(name);
        CAPTURE(steady);
        Scene with = test::scene_at(run, cursor);
        Scene without = test::scene_at(run_with(true, false), cursor);
        with.steady = without.steady = steady;
        const auto panel = make_panel(name);
        CHECK(test::find(test::drawn(*panel, with, area), "probe"));
        CHECK_FALSE(test::find(test::drawn(*panel, without, area), "probe"));
        CHECK(holds(panel->csv(with), name == std::string("trie") ? ",probe," : "\n"));
      }
  }
  CHECK(run.state_at(kProbe, kDraft1) == NodeState::kAbsent);
  CHECK(node_tooltip(test::scene_at(run, kDraft1 + 1), kProbe)[1] == "probe, from space");
  const Theme theme = dark_theme();
  CHECK(theme.mark(NodeState::kProbe).glyph != theme.mark(NodeState::kWithdrawn).glyph);
  // A run with only probes has neither drafts nor their words in its legend.
  const auto trie =
      test::drawn(*make_panel("trie"), test::scene_at(run_with(false, true), kForward1 + 1), area);
  CHECK(test::find(trie, "probe"));
  CHECK_FALSE(test::find(trie, "accepted"));
}

TEST_CASE("probes: the inspector names them and asks for no probability of theirs") {
  const Capture& run = run_with(true, true);
  const auto facts = [&](std::int32_t node) {
    Scene scene = test::scene_at(run, run.end_tick());
    scene.focus.locked = node;
    return make_panel("inspector")->csv(scene);
  };
  CHECK(holds(facts(kProbe), "state,probe,it never becomes text"));
  CHECK(holds(facts(kProbe), "\np,none,"));
  CHECK_FALSE(holds(facts(kProbe), "\nq,"));
  CHECK_FALSE(holds(facts(kProbe), "not known yet"));
  CHECK(holds(facts(2), "\nq,"));
  CHECK(holds(facts(2), "state,accepted,\n"));
}

TEST_CASE("probes: of many, a folded trie shows one below each parent, of old steps none") {
  std::vector<NodeRow> nodes = {{}};
  std::vector<NodeState> states = {NodeState::kLive};
  for (std::int32_t step = 1; step <= 2; ++step)
    for (std::int32_t i = 0; i < kManyUnverified; ++i) {
      nodes.push_back({.node = static_cast<std::int32_t>(nodes.size()),
                       .parent = 0,
                       .depth = 1,
                       .source = Source::kDraft,
                       .tick = make_tick(step, Phase::kDraft),
                       .role = NodeRole::kProbe});
      states.push_back(NodeState::kProbe);
    }
  CHECK(fold_trie(nodes, states, 2, {}).size() == 2);
  FoldOptions all;
  all.mode = FoldMode::kNone;
  CHECK(fold_trie(nodes, states, 2, all).size() == nodes.size());
}

TEST_CASE("probes: a run with them and one without do not differ by them") {
  const Capture& run = run_with(true, true);
  const Capture& plain = run_with(true, false);
  for (const Tick cursor : {kDraft1 + 1, kAccept1 + 1, run.end_tick()}) {
    for (const char differs : find_twins(run, cursor, plain, cursor).differ) CHECK(differs == 0);
    for (const char differs : find_twins(plain, cursor, run, cursor).differ) CHECK(differs == 0);
  }
  // A probe with a draft's token is not the draft's twin.
  const Twins twins = find_twins(run, run.end_tick(), plain, plain.end_tick());
  CHECK(twins.node[2] == 2);
  CHECK(twins.node[kProbe] == -1);
  // Where the other run's text has not gone on, nothing in this run differs.
  const Twins ahead = find_twins(plain, kAccept1 + 1, run_with(false, true), kForward1 + 1);
  CHECK(ahead.differ[2] == 0);
}

TEST_CASE("probes: every panel and the page draw a run of theirs at every tick") {
  for (const bool drafts : {true, false}) {
    const Capture& run = run_with(drafts, true);
    for (const std::string& name : panel_names())
      for (Tick cursor = 0; cursor <= run.end_tick(); ++cursor) {
        const auto panel = make_panel(name);
        test::drawn(*panel, test::scene_at(run, cursor), {0, 0, 800, 400});
        CHECK_FALSE(panel->csv(test::scene_at(run, cursor)).empty());
      }
    CHECK_FALSE(handout_html(run, {}).empty());
  }
}

}  // namespace
}  // namespace triescope::viz::test_probe_nodes
