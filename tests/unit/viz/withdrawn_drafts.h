// A short run with a draft head, every row written out: drafts that are withdrawn, one of which the
// target then adds itself and whose child is proposed again, and a token that was right below
// another parent.
//
// node (token)   0 ─ 1 (10) ─ 2 (20) ─ 4 (30)
//                    │          └─ 6 (32) withdrawn, then the bonus ─ 7 (40) withdrawn, then refused ─ 10 (51)
//                    │                                              └─ 8 (41) ─ 9 (50)
//                    │                                                       └─ 11 (51) the correction
//                    └─ 3 (21) ─ 5 (31)
// step 1 drafts 2 … 7 below 1, step 2 drafts 7 again, 8, 9 and 10 below 6; step 3 drafts nothing.
#pragma once

#include "core/capture/writer.h"
#include "tests/unit/viz/captures.h"

namespace triescope::test {

// Records the steps [first, end) of 0 … 4.
inline void record_withdrawn_drafts(Recorder& out, int first, int end) {
  const auto phase = [&](int step, Phase p) {
    out.write({.phases = {{.tick = make_tick(step, p), .duration_us = 1000}}});
  };
  const auto node = [&](std::int32_t id, std::int32_t parent, std::int32_t token,
                        std::int32_t depth, Source source, Tick tick) {
    out.write({.nodes = {{.node = id,
                          .parent = parent,
                          .token = token,
                          .depth = depth,
                          .logprob = -0.5f,
                          .score = -0.5f * static_cast<float>(depth),
                          .source = source,
                          .tick = tick,
                          .drafter = is_drafted(source) ? 0 : -1}}});
  };
  const auto proposed = [&](Tick tick, std::int32_t node, std::int32_t rank, std::int32_t token,
                            float logprob) {
    out.write({.candidates = {{.tick = tick,
                               .node = node,
                               .rank = rank,
                               .token = token,
                               .logprob = logprob,
                               .chosen = true,
                               .whose = Whose::kHead}}});
  };
  const auto verdict = [&](Tick tick, std::int32_t node, Verdict what) {
    out.write({.verdicts = {{.tick = tick, .node = node, .verdict = what}}});
  };
  const auto fed = [&](std::int32_t step, std::int32_t row, std::int32_t node, Whose whose,
                       std::int32_t forward) {
    out.write({.inputs = {{.step = step,
                           .row = row,
                           .node = node,
                           .slot = row,
                           .whose = whose,
                           .forward = forward}}});
  };
  const auto close = [&](int step, StepRow row) {
    phase(step, Phase::kAccept);
    phase(step, Phase::kCommit);
    row.step = step;
    out.write({.steps = {row}});
    phase(step, Phase::kObserve);
  };
  for (int step = first; step < end; ++step) {
    const Tick draft = make_tick(step, Phase::kDraft), accept = make_tick(step, Phase::kAccept);
    if (step == 0) {
      RunInfo info = synthetic_info(1, "eagle2", "EAGLE-2", "recycle");
      out.write({.run = info,
                 .drafters = {{.name = "eagle2", .title = "EAGLE-2", .kind = DrafterKind::kHead}},
                 .nodes = {{.node = 0}}});
      for (const std::int32_t token : {10, 20, 21, 30, 31, 32, 40, 41, 50, 51})
        out.write({.pieces = {{token, "t" + std::to_string(token)}}});
      phase(0, Phase::kDraft);
      phase(0, Phase::kForward);
      node(1, 0, 10, 1, Source::kGreedy, accept);
      verdict(accept, 1, Verdict::kEmitted);
      out.write({.frontier = {{.step = 0, .node = 1}}});
      close(0, {.forward_rows = 1, .emitted = 1, .frontier = 1});
    } else if (step == 1) {
      proposed(draft, 1, 0, 20, -0.1f);
      proposed(draft, 1, 1, 21, -2.0f);
      proposed(draft, 2, 0, 32, -0.2f);
      proposed(draft, 2, 1, 30, -0.5f);
      proposed(draft, 3, 0, 31, -0.4f);
      proposed(draft, 6, 0, 40, -0.1f);
      node(2, 1, 20, 2, Source::kDraft, draft);
      node(3, 1, 21, 2, Source::kDraft, draft);
      node(4, 2, 30, 3, Source::kDraft, draft);
      node(5, 3, 31, 3, Source::kDraft, draft);
      node(6, 2, 32, 3, Source::kDraft, draft);
      node(7, 6, 40, 4, Source::kDraft, draft);
      fed(1, 0, 1, Whose::kHead, 0);
      fed(1, 0, 2, Whose::kHead, 1);
      fed(1, 1, 3, Whose::kHead, 1);
      fed(1, 0, 6, Whose::kHead, 2);
      verdict(draft, 6, Verdict::kWithdrawn);
      verdict(draft, 7, Verdict::kWithdrawn);
      phase(1, Phase::kDraft);
      for (std::int32_t row = 0; row < 5; ++row) fed(1, row, 1 + row, Whose::kTarget, 0);
      phase(1, Phase::kForward);
      verdict(accept, 2, Verdict::kAccepted);
      verdict(accept, 6, Verdict::kBonus);
      verdict(accept, 4, Verdict::kRejected);
      verdict(accept, 3, Verdict::kRejected);
      verdict(accept, 5, Verdict::kRejected);
      out.write({.frontier = {{.step = 1, .node = 6}}});
      close(1, {.forward_rows = 5, .drafted = 4, .accepted = 1, .emitted = 2, .frontier = 1});
    } else if (step == 2) {
      proposed(draft, 6, 0, 40, -0.1f);
      proposed(draft, 6, 1, 41, -0.7f);
      proposed(draft, 7, 0, 51, -0.3f);
      proposed(draft, 8, 0, 50, -0.6f);
      node(8, 6, 41, 4, Source::kDraft, draft);
      node(9, 8, 50, 5, Source::kDraft, draft);
      node(10, 7, 51, 5, Source::kDraft, draft);
      phase(2, Phase::kDraft);
      for (std::int32_t row = 0; row < 5; ++row) fed(2, row, 6 + row, Whose::kTarget, 0);
      phase(2, Phase::kForward);
      node(11, 8, 51, 5, Source::kCorrected, accept);
      verdict(accept, 8, Verdict::kAccepted);
      verdict(accept, 7, Verdict::kRejected);
      verdict(accept, 9, Verdict::kRejected);
      verdict(accept, 10, Verdict::kRejected);
      verdict(accept, 11, Verdict::kCorrected);
      out.write({.frontier = {{.step = 2, .node = 11}}});
      close(2, {.forward_rows = 5, .drafted = 4, .accepted = 1, .emitted = 2, .frontier = 1});
    } else {
      phase(3, Phase::kDraft);
    }
  }
}

// Records two steps: step 1 drafts a chain of the given length, whose first token is accepted; step
// 2 drafts one token.
inline void record_chain(Recorder& out, std::int32_t levels) {
  const auto phase = [&](int step, Phase p) {
    out.write({.phases = {{.tick = make_tick(step, p), .duration_us = 1000}}});
  };
  const auto node = [&](std::int32_t id, std::int32_t parent, std::int32_t depth, Source source,
                        Tick tick) {
    out.write({.nodes = {{.node = id,
                          .parent = parent,
                          .token = id,
                          .depth = depth,
                          .logprob = -0.5f,
                          .source = source,
                          .tick = tick,
                          .drafter = is_drafted(source) ? 0 : -1}}});
  };
  const auto verdict = [&](Tick tick, std::int32_t node, Verdict what) {
    out.write({.verdicts = {{.tick = tick, .node = node, .verdict = what}}});
  };
  const auto decide = [&](int step, std::int32_t first, std::int32_t count, bool accepts,
                          std::int32_t own, std::int32_t own_parent, std::int32_t own_depth) {
    const Tick accept = make_tick(step, Phase::kAccept);
    phase(step, Phase::kDraft);
    phase(step, Phase::kForward);
    node(own, own_parent, own_depth, Source::kCorrected, accept);
    for (std::int32_t i = 0; i < count; ++i)
      verdict(accept, first + i, i == 0 && accepts ? Verdict::kAccepted : Verdict::kRejected);
    verdict(accept, own, count == 0 ? Verdict::kEmitted : Verdict::kCorrected);
    out.write({.frontier = {{.step = step, .node = own}}});
    phase(step, Phase::kAccept);
    phase(step, Phase::kCommit);
    out.write({.steps = {{.step = step,
                          .forward_rows = count + 1,
                          .drafted = count,
                          .accepted = accepts,
                          .emitted = 1 + accepts,
                          .frontier = 1}}});
    phase(step, Phase::kObserve);
  };
  out.write({.run = synthetic_info(1, "ngram_trie", "N-gram trie", "recycle"),
             .drafters = {synthetic_drafter()},
             .nodes = {{}}});
  decide(0, 0, 0, false, 1, 0, 1);
  for (std::int32_t i = 0; i < levels; ++i)
    node(2 + i, 1 + i, 2 + i, Source::kDraft, make_tick(1, Phase::kDraft));
  decide(1, 2, levels, true, levels + 2, 2, 3);
  node(levels + 3, levels + 2, 4, Source::kDraft, make_tick(2, Phase::kDraft));
  decide(2, levels + 3, 1, false, levels + 4, levels + 2, 4);
}

inline const Capture& withdrawn_drafts_capture() {
  static const auto opened =
      make_capture([](Recorder& out) { record_withdrawn_drafts(out, 0, 4); });
  return *opened->capture;
}

}  // namespace triescope::test
