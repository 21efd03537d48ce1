// Right runs made row by row, for tests that spoil one of their rows: drafts in a tree, and beams.
// Tokens are their nodes' numbers + 100, so every text is known.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/writer.h"
#include "core/doctor/doctor.h"
#include "tests/support/paths.h"

namespace triescope::test {

using namespace triescope::capture;

enum class Rule { kGreedy, kChain, kRounds };

struct MadeDrafts {
  Rule rule = Rule::kGreedy;
  int steps = 6;
  DrafterKind drafter = DrafterKind::kHead;
};

inline constexpr std::int32_t kEnd = 9, kPad = 8;

// Nodes of a step s >= 1, whose frontier is `root`: a below root, b below a, c below root after a.
// Even steps accept a and b and add a bonus below b; odd steps accept a, refuse b, and put a corrected
// token below a. c is always refused. A chain has no c.
struct StepNodes {
  std::int32_t root, a, b, c, own;
};

struct MadeRun {
  RowTables rows;
  std::vector<StepNodes> of_step;  // [0]: only `own`
};

inline void add_phases(RowTables& rows, int steps) {
  for (Tick tick = 0; tick < make_tick(steps, Phase::kDraft); ++tick)
    rows.phases.push_back({.tick = tick, .start_us = tick * 10, .duration_us = 10});
  rows.finish = Finish{};
}

inline MadeRun made_drafts(const MadeDrafts& what = {}) {
  MadeRun made;
  RowTables& rows = made.rows;
  RunInfo info;
  info.method = "made";
  info.kind = RunKind::kDrafts;
  info.model_json = R"({"eos_token_ids": [9], "pad_token_id": 8})";
  info.settings_json = what.rule == Rule::kGreedy  ? R"({"verify": "greedy"})"
                       : what.rule == Rule::kChain ? R"({"verify": "chain"})"
                                                   : R"({"verify": "multi_round"})";
  info.prompt_tokens = {1, 2};
  info.max_new_tokens = 1000;
  info.kv_policy = "recycle";
  rows.run = info;
  rows.drafters = {{.name = "made", .title = "Made", .kind = what.drafter}};
  rows.nodes = {{.logprob = 0, .score = 0}};
  std::vector<std::int32_t> slot_of = {-1};
  std::set<std::int32_t> free_slots;
  std::int32_t next_slot = 0;
  const bool is_greedy = what.rule == Rule::kGreedy, is_chain = what.rule == Rule::kChain;

  const auto add = [&](std::int32_t parent, Source source, Tick tick) {
    NodeRow row{.node = static_cast<std::int32_t>(rows.nodes.size()), .parent = parent};
    row.token = row.node + 100;
    row.depth = rows.nodes[static_cast<std::size_t>(parent)].depth + 1;
    row.logprob = row.score = std::numeric_limits<float>::quiet_NaN();
    row.q = source == Source::kDraft && !is_greedy ? 0.5f : 1.0f;
    row.source = source;
    row.tick = tick;
    row.drafter = source == Source::kDraft ? 0 : -1;
    rows.nodes.push_back(row);
    slot_of.push_back(-1);
    return row.node;
  };
  const auto take = [&](std::int32_t node, Tick tick) {
    SlotRow row{.tick = tick, .action = SlotAction::kAlloc, .slot = next_slot, .node = node};
    if (!free_slots.empty()) {
      row.action = SlotAction::kReuse;
      row.slot = *free_slots.begin();
      free_slots.erase(free_slots.begin());
    } else {
      ++next_slot;
    }
    if (node > 0) slot_of[static_cast<std::size_t>(node)] = row.slot;
    rows.slots.push_back(row);
    return row.slot;
  };
  const auto see = [&](std::int32_t step, std::int32_t row, std::int32_t node) {
    std::set<std::int32_t> slots = {0, 1};
    for (; node > 0; node = rows.nodes[static_cast<std::size_t>(node)].parent)
      slots.insert(slot_of[static_cast<std::size_t>(node)]);
    SeenRow seen{.step = step, .row = row, .slots = {}};
    for (const std::int32_t slot : slots) {
      seen.slots.push_back(slot);
      seen.slots.push_back(slot);
    }
    rows.seen.push_back(seen);
  };
  // The row of `node` says `best` first, then a token that nobody takes.
  const auto candidates = [&](std::int32_t node, std::int32_t best, Tick tick) {
    rows.candidates.push_back(
        {.tick = tick, .node = node, .rank = 0, .token = best, .logprob = -0.2f});
    rows.candidates.push_back(
        {.tick = tick, .node = node, .rank = 1, .token = 5, .logprob = -2.5f});
  };
  const auto decide = [&](std::int32_t node, Verdict verdict, Reason reason, Tick tick, float p,
                          float u) {
    rows.verdicts.push_back({.tick = tick,
                             .node = node,
                             .verdict = verdict,
                             .p = p,
                             .q = is_greedy ? 1.0f : 0.5f,
                             .u = is_greedy ? -1.0f : u,
                             .reason = reason});
  };

  for (int i = 0; i < 2; ++i) {
    const std::int32_t slot = take(-2 - i, make_tick(0, Phase::kForward));
    rows.inputs.push_back({.row = i, .node = -2 - i, .position = i, .slot = slot});
    rows.seen.push_back({.step = 0, .row = i, .slots = {0, i}});
  }
  StepNodes first{};
  first.own = add(0, is_greedy ? Source::kGreedy : Source::kSampled, make_tick(0, Phase::kAccept));
  candidates(0, first.own + 100, make_tick(0, Phase::kForward));
  rows.verdicts.push_back({.tick = make_tick(0, Phase::kAccept),
                           .node = first.own,
                           .verdict = Verdict::kEmitted,
                           .reason = is_greedy ? Reason::kArgmax : Reason::kDrawn});
  rows.frontier.push_back({.step = 0, .rank = 0, .node = first.own});
  rows.steps.push_back({.step = 0, .forward_rows = 2, .emitted = 1, .frontier = 1});
  made.of_step.push_back(first);

  for (std::int32_t step = 1; step < what.steps; ++step) {
    const Tick draft = make_tick(step, Phase::kDraft), forward = make_tick(step, Phase::kForward),
               accept = make_tick(step, Phase::kAccept), commit = make_tick(step, Phase::kCommit);
    StepNodes at{};
    at.root = made.of_step.back().own;
    at.a = add(at.root, Source::kDraft, draft);
    at.b = add(at.a, Source::kDraft, draft);
    at.c = is_chain ? -1 : add(at.root, Source::kDraft, draft);
    std::vector<std::int32_t> batch = {at.root, at.a, at.b};
    if (at.c > 0) batch.push_back(at.c);
    for (const std::int32_t& node : batch) {
      const std::int32_t slot = take(node, forward);
      rows.inputs.push_back({.step = step,
                             .row = static_cast<std::int32_t>(&node - batch.data()),
                             .node = node,
                             .position = 1 + rows.nodes[static_cast<std::size_t>(node)].depth,
                             .slot = slot});
    }
    for (std::size_t i = 0; i < batch.size(); ++i)
      see(step, static_cast<std::int32_t>(i), batch[i]);
    const bool takes_b = step % 2 == 0;
    at.own = add(takes_b ? at.b : at.a, takes_b ? Source::kBonus : Source::kCorrected, accept);
    candidates(at.root, at.a + 100, forward);
    candidates(at.a, (takes_b ? at.b : at.own) + 100, forward);
    candidates(at.b, (takes_b ? at.own : 6 - 100) + 100, forward);
    const Reason yes = is_greedy  ? Reason::kIsArgmax
                       : is_chain ? Reason::kBelowRatio
                                  : Reason::kBelowRest;
    const Reason no = is_greedy  ? Reason::kNotArgmax
                      : is_chain ? Reason::kNotBelowRatio
                                 : Reason::kNotBelowRest;
    // Siblings in the order of their nodes: a is accepted, so c is never tried.
    decide(at.a, Verdict::kAccepted, yes, accept, 0.4f, 0.3f);
    if (at.c > 0)
      rows.verdicts.push_back({.tick = accept,
                               .node = at.c,
                               .verdict = Verdict::kRejected,
                               .reason = is_greedy ? Reason::kNotArgmax : Reason::kNotReached});
    decide(at.b, takes_b ? Verdict::kAccepted : Verdict::kRejected, takes_b ? yes : no, accept,
           0.3f, takes_b ? 0.2f : 0.9f);
    rows.verdicts.push_back({.tick = accept,
                             .node = at.own,
                             .verdict = takes_b ? Verdict::kBonus : Verdict::kCorrected,
                             .reason = is_greedy ? Reason::kArgmax : Reason::kDrawn});
    rows.frontier.push_back({.step = step, .rank = 0, .node = at.own});
    for (const std::int32_t dead : {takes_b ? -1 : at.b, at.c}) {
      if (dead <= 0) continue;
      const std::int32_t slot = slot_of[static_cast<std::size_t>(dead)];
      rows.slots.push_back(
          {.tick = commit, .action = SlotAction::kFree, .slot = slot, .node = dead});
      free_slots.insert(slot);
    }
    rows.steps.push_back({.step = step,
                          .forward_rows = static_cast<std::int32_t>(batch.size()),
                          .drafted = static_cast<std::int32_t>(batch.size()) - 1,
                          .accepted = takes_b ? 2 : 1,
                          .emitted = takes_b ? 3 : 2,
                          .frontier = 1});
    made.of_step.push_back(at);
  }
  std::vector<std::int32_t> tokens;
  for (std::int32_t node = made.of_step.back().own; node > 0;
       node = rows.nodes[static_cast<std::size_t>(node)].parent)
    tokens.insert(tokens.begin(), rows.nodes[static_cast<std::size_t>(node)].token);
  rows.sequences.push_back({.tick = make_tick(what.steps - 1, Phase::kObserve),
                            .node = made.of_step.back().own,
                            .rank = 0,
                            .finish = "length",
                            .tokens = tokens});
  add_phases(rows, what.steps);
  return made;
}

// Two beams over `steps` levels. Level d has two nodes, both below the better one of the level above;
// the other's continuations score less.
inline MadeRun made_beams(int steps = 4) {
  MadeRun made;
  RowTables& rows = made.rows;
  RunInfo info;
  info.method = "made_beams";
  info.kind = RunKind::kBeams;
  info.width = 2;
  info.model_json = R"({"eos_token_ids": [9]})";
  info.settings_json = R"({"num_beams": 2, "length_penalty": 1.0})";
  info.prompt_tokens = {1, 2};
  info.max_new_tokens = 1000;
  rows.run = info;
  rows.nodes = {{.logprob = 0, .score = 0}};
  std::int32_t parent = 0, other = -1;
  for (std::int32_t step = 0; step < steps; ++step) {
    const Tick forward = make_tick(step, Phase::kForward), accept = make_tick(step, Phase::kAccept);
    const auto score_of = [&](std::int32_t node) {
      return rows.nodes[static_cast<std::size_t>(node)].score;
    };
    std::vector<std::int32_t> level;
    for (const float logprob : {-0.3f, -1.0f}) {
      NodeRow row{.node = static_cast<std::int32_t>(rows.nodes.size()), .parent = parent};
      row.token = row.node + 100;
      row.depth = step + 1;
      row.logprob = logprob;
      row.score = score_of(parent) + logprob;
      row.source = Source::kBeam;
      row.tick = accept;
      rows.nodes.push_back(row);
      level.push_back(row.node);
      rows.candidates.push_back({.tick = forward,
                                 .node = parent,
                                 .rank = static_cast<std::int32_t>(level.size()) - 1,
                                 .token = row.token,
                                 .logprob = logprob});
    }
    rows.candidates.push_back(
        {.tick = forward, .node = parent, .rank = 2, .token = 5, .logprob = -3.0f});
    if (other > 0) {
      rows.candidates.push_back(
          {.tick = forward, .node = other, .rank = 0, .token = 6, .logprob = -0.9f});
      rows.verdicts.push_back({.tick = accept, .node = other, .verdict = Verdict::kPruned});
    }
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const std::int32_t node = level[static_cast<std::size_t>(rank)];
      rows.verdicts.push_back({.tick = accept,
                               .node = node,
                               .verdict = Verdict::kKept,
                               .rank = rank,
                               .score = score_of(node)});
      rows.frontier.push_back({.step = step, .rank = rank, .node = node, .score = score_of(node)});
    }
    rows.steps.push_back({.step = step, .forward_rows = 2, .emitted = 1, .frontier = 2});
    made.of_step.push_back({.root = parent, .a = level[0], .b = level[1], .c = -1, .own = -1});
    parent = level[0];
    other = level[1];
  }
  rows.sequences.push_back(
      {.tick = make_tick(steps - 1, Phase::kObserve),
       .node = parent,
       .rank = 0,
       .score = rows.nodes[static_cast<std::size_t>(parent)].score / static_cast<float>(steps),
       .finish = "stopped",
       .tokens = {}});
  add_phases(rows, steps);
  return made;
}

// As a capture, opened.
struct OpenedRun {
  TempDir dir;
  std::unique_ptr<Capture> capture;
  explicit OpenedRun(const RowTables& rows) {
    const std::string path = dir.path() / "run.tscap";
    open_recorder(path)->write(rows);
    capture = Capture::open(path);
  }
};

inline doctor::Diagnosis diagnosed(const RowTables& rows) {
  return doctor::diagnose(*OpenedRun(rows).capture);
}

}  // namespace triescope::test
