// A made-up run for the capture tests: a beam search with a draft below each beam, that touches
// every table and every kind of decision and slot event. The same for the same arguments.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/capture/recorder.h"

namespace triescope::test {

using namespace triescope::capture;

inline RunInfo sample_info() {
  RunInfo info;
  info.created_utc = "2025-01-02T03:04:05Z";
  info.model_json = R"({"name":"fake","vocab_size":100})";
  info.method = "beam";
  info.method_title = "Trie beam search";
  info.kind = RunKind::kBeams;
  info.width = 3;
  info.settings_json = R"({"num_beams":3})";
  info.setting_titles_json = R"({"num_beams":"Beams"})";
  info.setting_words_json = R"({"num_beams":"a few"})";
  info.seed = -7;
  info.versions_json = R"({"triescope":"0"})";
  info.prompt_text = "Größe\n";
  info.prompt_tokens = {5, 0, 99};
  info.max_new_tokens = 40;
  info.kv_bytes_per_token = 46080;
  info.sliding_window = 8;
  info.kv_policy = "recycle";
  info.timed_while_drawing = true;
  info.conversation_json = R"([{"role":"user","content":"Größe"}])";
  return info;
}

// Records `steps` steps of `beams` beams; `after_phase` is called after each phase row.
inline void record_sample(Recorder& recorder, int steps, int beams,
                          const std::function<void(Tick)>& after_phase = {}, bool finish = true) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Rng rng(11);
  recorder.write(
      {.run = sample_info(),
       .programs = {{.name = "triescope", .version = "0", .command = "triescope decode"}},
       .drafters = {{.name = "n-gram trie", .title = "N-gram trie", .kind = DrafterKind::kText}}});
  for (std::int32_t token = 0; token < 100; ++token)
    recorder.write({.pieces = {{token, "t" + std::to_string(token) + (token == 7 ? "\xC3" : "")}}});
  std::vector<std::int32_t> free_slots;
  std::int32_t next_slot = 3, next_node = 1;
  std::vector<NodeRow> all = {{.logprob = 0, .score = 0}};
  std::vector<std::int32_t> slot_of = {-1};
  std::vector<std::int32_t> live = {0};
  const auto take = [&](Tick tick, std::int32_t node) {
    SlotRow row{.tick = tick, .action = SlotAction::kAlloc, .slot = next_slot, .node = node};
    if (!free_slots.empty()) {
      row.action = SlotAction::kReuse;
      row.slot = free_slots.back();
      free_slots.pop_back();
    } else {
      ++next_slot;
    }
    slot_of[static_cast<std::size_t>(node)] = row.slot;
    return row;
  };
  const auto phase_done = [&](int step, Phase phase) {
    const Tick tick = make_tick(step, phase);
    recorder.write({.phases = {{.tick = tick, .start_us = tick * 100, .duration_us = 90 + tick}}});
    if (after_phase) after_phase(tick);
  };
  const auto add = [&](std::int32_t parent, Source source, Tick tick) {
    NodeRow row{.node = next_node++, .parent = parent};
    row.token = static_cast<std::int32_t>(rng.next() % 100);
    row.depth = all[static_cast<std::size_t>(parent)].depth + 1;
    row.logprob = is_drafted(source) ? nan : -static_cast<float>(rng.uniform());
    row.score = all[static_cast<std::size_t>(parent)].score + row.logprob;
    row.source = source;
    row.tick = tick;
    row.drafter = is_drafted(source) ? 0 : -1;
    all.push_back(row);
    slot_of.push_back(-1);
    return row;
  };
  for (int step = 0; step < steps; ++step) {
    const Tick draft = make_tick(step, Phase::kDraft), forward = make_tick(step, Phase::kForward),
               accept = make_tick(step, Phase::kAccept), commit = make_tick(step, Phase::kCommit);
    std::vector<NodeRow> drafted;
    if (step == 0) {
      recorder.write({.nodes = {all[0]}});
    } else {
      drafted.push_back(add(live.front(), Source::kDraft, draft));
      recorder.write({.nodes = drafted});
    }
    phase_done(step, Phase::kDraft);

    std::vector<InputRow> inputs;
    std::vector<SlotRow> slots;
    if (step == 0) {
      for (int i = 0; i < 3; ++i) {
        slots.push_back({.tick = forward, .action = SlotAction::kAlloc, .slot = i, .node = -2 - i});
        inputs.push_back({.row = i, .node = -2 - i, .position = i, .slot = i, .naive_position = i});
      }
    } else {
      std::vector<std::int32_t> rows = live;
      rows.push_back(drafted[0].node);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        slots.push_back(take(forward, rows[i]));
        inputs.push_back({.step = step,
                          .row = static_cast<std::int32_t>(i),
                          .node = rows[i],
                          .position = 2 + all[static_cast<std::size_t>(rows[i])].depth,
                          .slot = slot_of[static_cast<std::size_t>(rows[i])],
                          .naive_position = next_slot + static_cast<std::int32_t>(i)});
      }
    }
    recorder.write({.slots = slots});
    recorder.write({.inputs = inputs});
    phase_done(step, Phase::kForward);

    std::vector<VerdictRow> verdicts;
    std::vector<CandidateRow> candidates;
    std::vector<NodeRow> children;
    std::vector<FrontierRow> frontier;
    std::vector<std::int32_t> next_live;
    for (const NodeRow& row : drafted) {
      const bool good = step % 2 == 0;
      recorder.write(
          {.node_scores = {{.node = row.node, .logprob = -0.5f, .score = -1.5f, .tick = accept}}});
      verdicts.push_back({.tick = accept,
                          .node = row.node,
                          .verdict = good ? Verdict::kAccepted : Verdict::kRejected,
                          .p = 0.25f,
                          .q = 0.5f,
                          .u = 0.125f,
                          .replacement = good ? -1 : 4,
                          .reason = good ? Reason::kIsArgmax : Reason::kNotArgmax,
                          .value = 0.75f,
                          .threshold = 0.0625f,
                          .count = step,
                          .why = step == 3 ? "its own words" : ""});
    }
    for (int beam = 0; beam < beams; ++beam) {
      const std::int32_t parent = live[static_cast<std::size_t>(rng.next() % live.size())];
      children.push_back(add(parent, Source::kBeam, accept));
      const NodeRow& child = children.back();
      next_live.push_back(child.node);
      verdicts.push_back({.tick = accept,
                          .node = child.node,
                          .verdict = Verdict::kKept,
                          .rank = beam,
                          .score = child.score,
                          .gap = 0.5f});
      frontier.push_back({.step = step, .rank = beam, .node = child.node, .score = child.score});
    }
    for (const std::int32_t node : live)
      for (int rank = 0; rank < 5; ++rank)
        candidates.push_back({.tick = accept,
                              .node = node,
                              .rank = rank,
                              .token = (node + rank) % 100,
                              .logprob = -static_cast<float>(rank),
                              .chosen = rank == 0});
    if (step > 0 && step % 5 == 0) {
      verdicts.push_back({.tick = accept,
                          .node = live.back(),
                          .verdict = Verdict::kFinished,
                          .reason = Reason::kEos});
      recorder.write({.sequences = {{.tick = accept,
                                     .node = live.back(),
                                     .rank = -1,
                                     .score = nan,
                                     .finish = "eos",
                                     .tokens = {1, 2, 3}}}});
    }
    recorder.write({.nodes = children});
    recorder.write({.verdicts = verdicts});
    recorder.write({.candidates = candidates});
    recorder.write({.frontier = frontier});
    live = next_live;
    phase_done(step, Phase::kAccept);

    slots.clear();
    for (const NodeRow& row : drafted) {
      const std::int32_t slot = slot_of[static_cast<std::size_t>(row.node)];
      slots.push_back(
          {.tick = commit, .action = SlotAction::kGarbage, .slot = slot, .node = row.node});
      if (step % 3 == 0) continue;
      slots.push_back(
          {.tick = commit, .action = SlotAction::kFree, .slot = slot, .node = row.node});
      free_slots.push_back(slot);
    }
    if (step % 7 == 6) {
      // A survivor moves to a slot of its own choice.
      std::int32_t node = all[static_cast<std::size_t>(live[0])].parent;
      const std::int32_t from = slot_of[static_cast<std::size_t>(node)];
      slots.push_back({.tick = commit,
                       .action = SlotAction::kMove,
                       .slot = next_slot,
                       .node = node,
                       .from_slot = from});
      slots.push_back({.tick = commit, .action = SlotAction::kFree, .slot = from, .node = node});
      slot_of[static_cast<std::size_t>(node)] = next_slot++;
      free_slots.push_back(from);
    }
    recorder.write({.slots = slots});
    recorder.write({.memory = {{.step = step,
                                .live = step * 2,
                                .garbage = step,
                                .reserved = next_slot,
                                .greedy = step + 3,
                                .batch_beam = beams * (step + 3),
                                .moved_bytes = step * 1000LL}}});
    phase_done(step, Phase::kCommit);

    recorder.write(
        {.steps = {{.step = step,
                    .forward_rows = static_cast<std::int32_t>(inputs.size()),
                    .drafted = static_cast<std::int32_t>(drafted.size()),
                    .accepted = step % 2 == 0 ? static_cast<std::int32_t>(drafted.size()) : 0,
                    .emitted = 1,
                    .frontier = beams}}});
    if (step % 4 == 0)
      recorder.write(
          {.log = {{.tick = commit, .level = 2, .text = "step " + std::to_string(step)}}});
    phase_done(step, Phase::kObserve);
  }
  if (!finish) return;
  recorder.write({.sequences = {{.tick = make_tick(steps - 1, Phase::kObserve),
                                 .node = live[0],
                                 .rank = 0,
                                 .score = -1.25f,
                                 .finish = "length",
                                 .tokens = {9, 8}}}});
  recorder.write({.finish = Finish{RunStatus::kDone, "all beams finished"}});
}

}  // namespace triescope::test
