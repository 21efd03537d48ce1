// A short run with a draft model, every row written out: what the target and the draft model read,
// hold and propose differs, so that a picture of the wrong one shows.
//
// nodes        0 ─ 1 ─ 2 ─ 4 ─ 5     3 is refused; 5 is the bonus
//                   └─ 3
// target       step 0: prompt; step 1: one forward of 1 2 3 4
// draft model  step 1: forward 0 of the prompt and 1, forward 1 of 2 and 3; step 2: 4 and 5
#pragma once

#include <cmath>

#include "tests/unit/viz/captures.h"

namespace triescope::test {

inline void record_two_owners(Recorder& out, int sliding_window = 0) {
  RunInfo info = synthetic_info(3, "draft_model", "Draft-model speculation", "recycle");
  info.model_json =
      R"({"name":"target","dtype":"fp32","device":"cpu","draft":{"name":"small","kv_bytes_per_token":512}})";
  info.kv_bytes_per_token = 2048;
  info.sliding_window = sliding_window;
  out.write({.run = info, .drafters = {{.name = "draft model", .kind = DrafterKind::kModel}}});
  const auto& pieces = synthetic_pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i)
    out.write({.pieces = {{static_cast<std::int32_t>(i), pieces[i]}}});
  std::int64_t clock = 0;
  const auto phase = [&](int step, Phase p) {
    out.write({.phases = {{.tick = make_tick(step, p), .start_us = clock, .duration_us = 1000}}});
    clock += 1000;
  };
  const auto node = [](std::int32_t id, std::int32_t parent, std::int32_t depth, Source source,
                       Tick tick) {
    return NodeRow{.node = id,
                   .parent = parent,
                   .token = 4 + id,
                   .depth = depth,
                   .logprob = -0.5f,
                   .score = -0.5f * static_cast<float>(depth),
                   .source = source,
                   .tick = tick,
                   .drafter = is_drafted(source) ? 0 : -1};
  };

  // Step 0 is the target's prefill.
  out.write({.nodes = {{.node = 0}}});
  phase(0, Phase::kDraft);
  Tick tick = make_tick(0, Phase::kForward);
  for (std::int32_t i = 0; i < 3; ++i) {
    out.write({.slots = {{.tick = tick, .slot = i, .node = -2 - i}}});
    out.write(
        {.inputs = {{.row = i, .node = -2 - i, .position = i, .slot = i, .naive_position = i}}});
  }
  phase(0, Phase::kForward);
  tick = make_tick(0, Phase::kAccept);
  out.write({.nodes = {node(1, 0, 1, Source::kGreedy, tick)}});
  out.write({.verdicts = {{.tick = tick, .node = 1, .verdict = Verdict::kEmitted}}});
  out.write({.frontier = {{.node = 1, .score = -0.5f}}});
  phase(0, Phase::kAccept);
  out.write({.memory = {{.live = 3, .reserved = 8, .greedy = 3, .batch_beam = 3}}});
  out.write({.memory = {{.reserved = 7, .greedy = 3, .batch_beam = 3, .whose = Whose::kDraft}}});
  phase(0, Phase::kCommit);
  out.write({.steps = {{.forward_rows = 3, .emitted = 1, .frontier = 1}}});
  phase(0, Phase::kObserve);

  // Step 1 has two forwards of the draft model and one of the target.
  tick = make_tick(1, Phase::kDraft);
  out.write({.nodes = {node(2, 1, 2, Source::kDraft, tick), node(3, 1, 2, Source::kDraft, tick),
                       node(4, 2, 3, Source::kDraft, tick)}});
  out.write({.candidates = {{.tick = tick,
                             .node = 1,
                             .rank = 0,
                             .token = 6,
                             .logprob = std::log(0.5f),
                             .chosen = true,
                             .whose = Whose::kDraft},
                            {.tick = tick,
                             .node = 1,
                             .rank = 1,
                             .token = 7,
                             .logprob = std::log(0.25f),
                             .chosen = true,
                             .whose = Whose::kDraft}}});
  const std::int32_t first[] = {-2, -3, -4, 1};
  for (std::int32_t i = 0; i < 4; ++i) {
    out.write({.slots = {{.tick = tick, .slot = i, .node = first[i], .whose = Whose::kDraft}}});
    out.write({.inputs = {{.step = 1,
                           .row = i,
                           .node = first[i],
                           .position = i,
                           .slot = i,
                           .naive_position = i,
                           .whose = Whose::kDraft}}});
  }
  for (std::int32_t i = 0; i < 2; ++i) {
    out.write({.slots = {{.tick = tick, .slot = 4 + i, .node = 2 + i, .whose = Whose::kDraft}}});
    out.write({.inputs = {{.step = 1,
                           .row = i,
                           .node = 2 + i,
                           .position = 4,
                           .slot = 4 + i,
                           .naive_position = 4 + i,
                           .whose = Whose::kDraft,
                           .forward = 1}}});
  }
  phase(1, Phase::kDraft);
  tick = make_tick(1, Phase::kForward);
  const std::int32_t positions[] = {3, 4, 4, 5};
  for (std::int32_t i = 0; i < 4; ++i) {
    out.write({.slots = {{.tick = tick, .slot = 3 + i, .node = 1 + i}}});
    out.write({.inputs = {{.step = 1,
                           .row = i,
                           .node = 1 + i,
                           .position = positions[i],
                           .slot = 3 + i,
                           .naive_position = 3 + i}}});
  }
  phase(1, Phase::kForward);
  tick = make_tick(1, Phase::kAccept);
  out.write({.nodes = {node(5, 4, 4, Source::kBonus, tick)}});
  out.write({.candidates = {{.tick = tick,
                             .node = 1,
                             .rank = 0,
                             .token = 6,
                             .logprob = std::log(0.75f),
                             .chosen = true}}});
  out.write({.verdicts = {{.tick = tick, .node = 2, .verdict = Verdict::kAccepted},
                          {.tick = tick, .node = 3, .verdict = Verdict::kRejected},
                          {.tick = tick, .node = 4, .verdict = Verdict::kAccepted},
                          {.tick = tick, .node = 5, .verdict = Verdict::kBonus}}});
  out.write({.frontier = {{.step = 1, .node = 5, .score = -2}}});
  phase(1, Phase::kAccept);
  tick = make_tick(1, Phase::kCommit);
  out.write({.slots = {{.tick = tick, .action = SlotAction::kFree, .slot = 5, .node = 3}}});
  out.write({.memory = {{.step = 1, .live = 6, .reserved = 8, .greedy = 6, .batch_beam = 6}}});
  out.write({.memory = {{.step = 1,
                         .live = 5,
                         .reserved = 7,
                         .greedy = 6,
                         .batch_beam = 6,
                         .whose = Whose::kDraft}}});
  phase(1, Phase::kCommit);
  out.write({.steps = {{.step = 1,
                        .forward_rows = 4,
                        .drafted = 3,
                        .accepted = 2,
                        .emitted = 3,
                        .frontier = 1}}});
  phase(1, Phase::kObserve);

  // In step 2 the draft model takes the refused draft's slot again.
  tick = make_tick(2, Phase::kDraft);
  out.write({.slots = {{.tick = tick,
                        .action = SlotAction::kFree,
                        .slot = 5,
                        .node = 3,
                        .whose = Whose::kDraft},
                       {.tick = tick,
                        .action = SlotAction::kReuse,
                        .slot = 5,
                        .node = 4,
                        .whose = Whose::kDraft}}});
  out.write({.inputs = {{.step = 2,
                         .node = 4,
                         .position = 5,
                         .slot = 5,
                         .naive_position = 5,
                         .whose = Whose::kDraft}}});
  phase(2, Phase::kDraft);
  out.write({.finish = Finish{RunStatus::kStopped, ""}});
}

inline const Capture& two_owner_capture() {
  static const auto opened = make_capture([](Recorder& r) { record_two_owners(r); });
  return *opened->capture;
}

}  // namespace triescope::test
