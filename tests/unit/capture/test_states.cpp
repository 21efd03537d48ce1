// What a node, a slot and a mask cell look like at a cursor, on small captures made by hand.
#include <doctest/doctest.h>

#include <functional>

#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test {
namespace {

constexpr Tick kAccept0 = make_tick(0, Phase::kAccept), kAccept1 = make_tick(1, Phase::kAccept),
               kAccept2 = make_tick(2, Phase::kAccept);

std::unique_ptr<Capture> record(const TempDir& dir, const std::function<void(Recorder&)>& fill) {
  const std::string path = dir.path() / "run.tscap";
  {
    const auto recorder = open_recorder(path);
    recorder->write({.run = sample_info()});
    fill(*recorder);
    for (Tick tick = 0; tick < 15; ++tick) recorder->write({.phases = {{.tick = tick}}});
    recorder->write({.finish = Finish{RunStatus::kDone, ""}});
  }
  return Capture::open(path);
}

NodeRow node(std::int32_t id, std::int32_t parent, std::int32_t depth, Tick tick,
             Source source = Source::kBeam) {
  return {
      .node = id, .parent = parent, .token = id, .depth = depth, .source = source, .tick = tick};
}

VerdictRow verdict(std::int32_t id, Verdict what, Tick tick) {
  return {.tick = tick, .node = id, .verdict = what};
}

// All nodes at once have the states that each has when it is asked for alone.
void check_states_at(const Capture& capture) {
  for (Tick cursor = 0; cursor <= capture.end_tick(); ++cursor) {
    const std::vector<NodeState> states = capture.states_at(cursor);
    REQUIRE(states.size() == capture.nodes_at(cursor).size());
    for (std::size_t i = 0; i < states.size(); ++i) {
      CAPTURE(cursor);
      CAPTURE(i);
      CHECK(states[i] == capture.state_at(static_cast<std::int32_t>(i), cursor));
    }
  }
}

TEST_CASE(
    "state: a beam is live until no live beam is below it, then pruned, without a verdict of its "
    "own") {
  TempDir dir;
  // root - 1 - 3 - 5      step 0 keeps 1, 2; step 1 keeps 3 (of 1) and 4 (of 2); step 2 keeps 5 and
  // 6, both of 3
  //      \ 2 - 4    \ 6
  const auto c = record(dir, [](Recorder& r) {
    r.write({.nodes = {{},
                       node(1, 0, 1, kAccept0),
                       node(2, 0, 1, kAccept0),
                       node(3, 1, 2, kAccept1),
                       node(4, 2, 2, kAccept1),
                       node(5, 3, 3, kAccept2),
                       node(6, 3, 3, kAccept2)}});
    for (int i = 1; i <= 6; ++i)
      r.write({.verdicts = {verdict(i, Verdict::kKept, make_tick((i - 1) / 2, Phase::kAccept))}});
    for (int i = 1; i <= 6; ++i)
      r.write({.frontier = {{.step = (i - 1) / 2, .rank = (i - 1) % 2, .node = i}}});
  });
  CHECK(c->state_at(1, kAccept0) == NodeState::kAbsent);
  CHECK(c->frontier_step(kAccept0) == -1);
  CHECK(c->state_at(1, kAccept0 + 1) == NodeState::kLive);
  CHECK(c->state_at(2, kAccept2) == NodeState::kLive);
  CHECK(c->frontier_step(kAccept2) == 1);
  CHECK(c->node_at(2, kAccept2).beam_rank == 1);
  CHECK(c->state_at(2, kAccept2 + 1) == NodeState::kPruned);
  CHECK(c->state_at(4, kAccept2 + 1) == NodeState::kPruned);
  CHECK(c->node_at(4, kAccept2 + 1).beam_rank == -1);
  CHECK(c->state_at(1, kAccept2 + 1) == NodeState::kLive);
  CHECK(c->node_at(3, kAccept2 + 1).beam_rank == 0);  // of two beams below it the better one's
  CHECK(c->node_at(0, kAccept2 + 1).beam_rank == 0);
  // Back again: the same as before.
  CHECK(c->state_at(2, kAccept2) == NodeState::kLive);
  CHECK(c->path_to(5) == std::vector<std::int32_t>{1, 3, 5});
  const auto below = c->children(3);
  CHECK(std::vector<std::int32_t>(below.begin(), below.end()) == std::vector<std::int32_t>{5, 6});
  check_states_at(*c);
}

TEST_CASE("state: a finished sequence keeps its path alive") {
  TempDir dir;
  const auto c = record(dir, [](Recorder& r) {
    r.write({.nodes = {{},
                       node(1, 0, 1, kAccept0),
                       node(2, 0, 1, kAccept0),
                       node(3, 1, 2, kAccept1),
                       node(4, 2, 2, kAccept1)}});
    r.write({.verdicts = {
                 verdict(1, Verdict::kKept, kAccept0), verdict(2, Verdict::kKept, kAccept0),
                 verdict(3, Verdict::kFinished, kAccept1), verdict(4, Verdict::kKept, kAccept1)}});
    r.write({.frontier = {{.step = 0, .rank = 0, .node = 1}, {.step = 0, .rank = 1, .node = 2}}});
    r.write({.frontier = {{.step = 1, .rank = 0, .node = 4}}});
    r.write({.sequences = {{.tick = kAccept1, .node = 3, .finish = "eos", .tokens = {1, 3}}}});
  });
  CHECK(c->state_at(3, 15) == NodeState::kFinished);
  CHECK(c->state_at(1, 15) == NodeState::kLive);
  CHECK(c->node_at(1, 15).beam_rank == -1);
  CHECK(c->state_at(4, 15) == NodeState::kLive);
  check_states_at(*c);
}

TEST_CASE("state: a text that is returned after its step's frontier lives again from then on") {
  TempDir dir;
  const Tick observe1 = make_tick(1, Phase::kObserve);
  const auto c = record(dir, [&](Recorder& r) {
    r.write(
        {.nodes = {{}, node(1, 0, 1, kAccept0), node(2, 0, 1, kAccept0), node(3, 1, 2, kAccept1)},
         .verdicts = {verdict(1, Verdict::kKept, kAccept0), verdict(2, Verdict::kKept, kAccept0),
                      verdict(3, Verdict::kKept, kAccept1)},
         .frontier = {{.step = 0, .rank = 0, .node = 1},
                      {.step = 0, .rank = 1, .node = 2},
                      {.step = 1, .rank = 0, .node = 3}},
         .sequences = {{.tick = observe1, .node = 2, .finish = "length", .tokens = {2}}}});
  });
  CHECK(c->state_at(2, observe1) == NodeState::kPruned);
  CHECK(c->state_at(2, observe1 + 1) == NodeState::kLive);
  CHECK(c->node_at(2, observe1 + 1).beam_rank == -1);
  CHECK(c->state_at(2, observe1) == NodeState::kPruned);  // and back
  check_states_at(*c);
}

TEST_CASE("state: whatever was kept is pruned once no live text goes through it, a finish stays") {
  TempDir dir;
  const Verdict kept[] = {Verdict::kKept, Verdict::kEmitted, Verdict::kAccepted, Verdict::kBonus,
                          Verdict::kCorrected};
  const NodeState states[] = {NodeState::kLive, NodeState::kLive, NodeState::kAccepted,
                              NodeState::kBonus, NodeState::kCorrected};
  const auto c = record(dir, [&](Recorder& r) {
    RowTables rows{.nodes = {{}}};
    for (std::int32_t i = 1; i <= 5; ++i) {
      rows.nodes.push_back(node(i, 0, 1, kAccept0));
      rows.verdicts.push_back(verdict(i, kept[i - 1], kAccept0));
      rows.frontier.push_back({.step = 0, .rank = i - 1, .node = i});
    }
    rows.nodes.push_back(node(6, 1, 2, kAccept1));
    rows.nodes.push_back(node(7, 2, 2, kAccept1));
    rows.verdicts.push_back(verdict(6, Verdict::kFinished, kAccept1));
    // Accepted, though the step goes on elsewhere: no later one will say so.
    rows.verdicts.push_back(verdict(7, Verdict::kAccepted, kAccept1));
    rows.nodes.push_back(node(8, 0, 1, kAccept1));
    rows.frontier.push_back({.step = 1, .rank = 0, .node = 8});
    r.write(rows);
  });
  for (std::int32_t i = 1; i <= 5; ++i) {
    CAPTURE(i);
    CHECK(c->state_at(i, kAccept1) == states[i - 1]);
    CHECK(c->state_at(i, kAccept1 + 1) == NodeState::kPruned);
  }
  CHECK(c->state_at(6, kAccept1 + 1) == NodeState::kFinished);
  CHECK(c->state_at(7, kAccept1 + 1) == NodeState::kPruned);
  check_states_at(*c);
}

TEST_CASE(
    "state: a capture that grows answers with what has come, not with what was asked before") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const auto recorder = open_recorder(path);
  recorder->write({.run = sample_info(), .nodes = {{}, node(1, 0, 1, 0)}, .phases = {{.tick = 0}}});
  recorder->flush();
  const auto c = Capture::open(path);
  const auto children = [&](std::int32_t of) {
    const auto found = c->children(of);
    return std::vector<std::int32_t>(found.begin(), found.end());
  };
  CHECK(children(0) == std::vector<std::int32_t>{1});
  CHECK(children(1).empty());
  recorder->write({.nodes = {node(2, 0, 1, 1), node(3, 1, 2, 1)}, .phases = {{.tick = 1}}});
  recorder->flush();
  CHECK(c->poll());
  CHECK(children(0) == std::vector<std::int32_t>{1, 2});
  CHECK(children(1) == std::vector<std::int32_t>{3});
  CHECK_FALSE(c->poll());
  recorder->write({.finish = Finish{RunStatus::kDone, ""}});
  CHECK(c->poll());  // nothing but the end has come
  CHECK(c->status() == RunStatus::kDone);
  CHECK_FALSE(c->poll());
}

TEST_CASE("state: candidates of a node asked for in two steps are two lists, each at its time") {
  TempDir dir;
  const Tick forward1 = make_tick(1, Phase::kForward), forward2 = make_tick(2, Phase::kForward);
  const auto c = record(dir, [&](Recorder& r) {
    r.write({.nodes = {{}, node(1, 0, 1, 0)},
             .candidates = {{.tick = forward1, .node = 1, .rank = 0, .token = 10},
                            {.tick = forward1, .node = 1, .rank = 1, .token = 11},
                            {.tick = forward2, .node = 1, .rank = 0, .token = 20}}});
  });
  const auto tokens = [&](Tick cursor) {
    std::vector<std::int32_t> found;
    for (const CandidateRow& row : c->candidates(1, cursor)) found.push_back(row.token);
    return found;
  };
  CHECK(tokens(forward1).empty());
  CHECK(tokens(forward2) == std::vector<std::int32_t>{10, 11});
  CHECK(tokens(forward2 + 1) == std::vector<std::int32_t>{20});
  check_states_at(*c);
}

TEST_CASE(
    "state: drafts are pending, then what was decided; the latest verdict wins; scores come when "
    "known") {
  TempDir dir;
  const Tick draft = make_tick(1, Phase::kDraft);
  const auto c = record(dir, [&](Recorder& r) {
    r.write({.nodes = {{},
                       node(1, 0, 1, kAccept0),
                       node(2, 1, 2, draft, Source::kDraft),
                       node(3, 2, 3, draft, Source::kDraft),
                       node(4, 2, 3, kAccept1, Source::kCorrected)}});
    r.write({.node_scores = {{.node = 2, .logprob = -0.5f, .score = -2, .tick = kAccept1}}});
    r.write({.verdicts = {verdict(1, Verdict::kEmitted, kAccept0),
                          verdict(2, Verdict::kAccepted, kAccept1),
                          verdict(3, Verdict::kRejected, kAccept1),
                          verdict(4, Verdict::kCorrected, kAccept1),
                          verdict(4, Verdict::kPruned, kAccept2)}});
    r.write({.frontier = {{.step = 0, .node = 1}}});
    r.write({.frontier = {{.step = 1, .node = 4}}});
  });
  CHECK(c->state_at(2, draft) == NodeState::kAbsent);
  CHECK(c->state_at(2, kAccept1) == NodeState::kPending);
  CHECK(c->node_at(2, kAccept1).row.logprob == 0.0f);
  CHECK(c->node_at(2, kAccept1 + 1).row.logprob == -0.5f);
  CHECK(c->state_at(1, kAccept1 + 1) == NodeState::kLive);
  CHECK(c->state_at(2, kAccept1 + 1) == NodeState::kAccepted);
  CHECK(c->state_at(3, kAccept1 + 1) == NodeState::kRejected);
  CHECK(c->state_at(4, kAccept2) == NodeState::kCorrected);
  CHECK(c->state_at(4, kAccept2 + 1) == NodeState::kPruned);
  CHECK(c->verdict_at(4, kAccept2)->verdict == Verdict::kCorrected);
  CHECK_FALSE(c->verdict_at(4, kAccept1));
  CHECK(c->state_at(99, 15) == NodeState::kAbsent);
  CHECK(c->state_at(-1, 15) == NodeState::kAbsent);
  check_states_at(*c);
}

TEST_CASE("slots: free, live, garbage, reused, moved, each at its time") {
  TempDir dir;
  const Tick forward = make_tick(0, Phase::kForward), commit = make_tick(0, Phase::kCommit),
             forward1 = make_tick(1, Phase::kForward), commit1 = make_tick(1, Phase::kCommit);
  const auto c = record(dir, [&](Recorder& r) {
    r.write({.nodes = {{}, node(1, 0, 1, 0), node(2, 0, 1, 0), node(3, 0, 1, 0)}});
    r.write(
        {.slots = {
             {.tick = forward, .action = SlotAction::kAlloc, .slot = 0, .node = -2},
             {.tick = forward, .action = SlotAction::kAlloc, .slot = 1, .node = 1},
             {.tick = forward, .action = SlotAction::kAlloc, .slot = 2, .node = 2},
             {.tick = commit, .action = SlotAction::kGarbage, .slot = 1, .node = 1},
             {.tick = forward1, .action = SlotAction::kReuse, .slot = 1, .node = 3},
             {.tick = commit1, .action = SlotAction::kMove, .slot = 4, .node = 2, .from_slot = 2},
             {.tick = commit1, .action = SlotAction::kFree, .slot = 2, .node = 2}}});
  });
  CHECK(c->slot_at(0, forward).state == SlotState::kFree);
  CHECK(c->slot_at(0, forward + 1).node == -2);
  CHECK(c->slot_at(1, commit).state == SlotState::kLive);
  CHECK(c->slot_at(1, commit + 1).state == SlotState::kGarbage);
  CHECK(c->slot_at(1, commit + 1).node == 1);
  CHECK(c->slot_at(1, forward1 + 1).node == 3);
  CHECK(c->slot_at(1, forward1 + 1).reused_this_step);
  CHECK_FALSE(c->slot_at(1, make_tick(2, Phase::kForward)).reused_this_step);
  CHECK(c->slot_at(4, commit1 + 1).moved_this_step);
  CHECK(c->slot_at(4, commit1 + 1).moved_from == 2);
  // Of the step that the cursor has just finished, no longer of the next one.
  CHECK(c->slot_at(4, make_tick(2, Phase::kDraft)).moved_this_step);
  CHECK_FALSE(c->slot_at(4, make_tick(2, Phase::kDraft) + 1).moved_this_step);
  CHECK(c->slot_at(2, commit1 + 1).state == SlotState::kFree);
  CHECK(c->slot_of(2, commit1) == 2);
  CHECK(c->slot_of(2, commit1 + 1) == 4);
  CHECK(c->slot_of(1, forward1 + 1) == -1);
  CHECK(c->slot_count_at(forward) == 0);
  CHECK(c->slot_count_at(commit1) == 3);
  CHECK(c->slot_count_at(commit1 + 1) == 5);
  check_states_at(*c);
}

TEST_CASE("slots: freed and taken again in one step is reused in it, whatever follows") {
  TempDir dir;
  const Tick draft1 = make_tick(1, Phase::kDraft), forward1 = make_tick(1, Phase::kForward),
             commit1 = make_tick(1, Phase::kCommit);
  const auto c = record(dir, [&](Recorder& r) {
    r.write({.nodes = {{}, node(1, 0, 1, 0), node(2, 0, 1, 0)},
             .slots = {{.tick = 1, .action = SlotAction::kAlloc, .slot = 0, .node = 1},
                       {.tick = draft1, .action = SlotAction::kFree, .slot = 0, .node = 1},
                       {.tick = forward1, .action = SlotAction::kReuse, .slot = 0, .node = 2},
                       {.tick = commit1, .action = SlotAction::kGarbage, .slot = 0, .node = 2}}});
  });
  CHECK_FALSE(c->slot_at(0, forward1).reused_this_step);
  CHECK(c->slot_at(0, forward1 + 1).reused_this_step);
  CHECK(c->slot_at(0, commit1 + 1).reused_this_step);
  CHECK(c->slot_at(0, commit1 + 1).state == SlotState::kGarbage);
  check_states_at(*c);
}

TEST_CASE("slots: a node of which batch search holds copies lies in the newest one that is left") {
  TempDir dir;
  const Tick forward = make_tick(0, Phase::kForward), commit = make_tick(0, Phase::kCommit);
  const auto c = record(dir, [&](Recorder& r) {
    RowTables rows{.nodes = {{}, node(1, 0, 1, 0)}};
    for (std::int32_t slot = 0; slot < 4; ++slot)
      rows.slots.push_back(
          {.tick = forward, .action = SlotAction::kAlloc, .slot = slot, .node = 1});
    for (std::int32_t step = 0; step < 3; ++step)
      rows.slots.push_back({.tick = make_tick(step, Phase::kCommit),
                            .action = SlotAction::kFree,
                            .slot = 3 - step,
                            .node = 1});
    r.write(rows);
  });
  CHECK(c->slot_of(1, forward) == -1);
  CHECK(c->slot_of(1, forward + 1) == 3);
  CHECK(c->slot_of(1, commit + 1) == 2);
  CHECK(c->slot_of(1, make_tick(1, Phase::kCommit) + 1) == 1);
  CHECK(c->slot_of(1, make_tick(2, Phase::kCommit) + 1) == 0);
  check_states_at(*c);
}

TEST_CASE("mask: a row sees the prompt, its ancestors and itself, inside the sliding window") {
  TempDir dir;
  const auto c = record(dir, [](Recorder& r) {  // prompt of 3, window of 8
    std::vector<NodeRow> rows = {{}};
    for (int i = 1; i <= 9; ++i) rows.push_back(node(i, i - 1, i, 0));
    rows.push_back(node(10, 8, 9, 0));
    r.write({.nodes = rows});
  });
  const InputRow input{.node = 9, .position = 11};
  CHECK(c->visible(input, 9));
  CHECK(c->visible(input, 2));        // position 4: 11 - 4 < 8
  CHECK_FALSE(c->visible(input, 1));  // position 3
  CHECK_FALSE(c->visible(input, 10));
  CHECK_FALSE(c->visible(input, -2));
  const InputRow sibling{.node = 10, .position = 11};
  CHECK(c->visible(sibling, 10));
  CHECK_FALSE(c->visible(sibling, 9));
  CHECK(c->visible(input, 9));
  const InputRow early{.node = 2, .position = 4};
  CHECK(c->visible(early, -2));
  CHECK(c->visible(early, -4));
  CHECK_FALSE(c->visible(early, -5));  // there are three prompt tokens
  CHECK(c->visible(early, 1));
  CHECK_FALSE(c->visible(early, 3));
  const InputRow prompt{.node = -3, .position = 1};
  CHECK(c->visible(prompt, -2));
  CHECK(c->visible(prompt, -3));
  CHECK_FALSE(c->visible(prompt, -4));
  check_states_at(*c);
}

}  // namespace
}  // namespace triescope::test
