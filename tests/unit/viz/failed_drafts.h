// A short run with a draft head in which every draft fails, each step for another reason.
//
// Each of the steps 1 … 6 drafts one token below the frontier, 10, which is refused for 20 + step;
// step 7 drafts two, of which the first has a draft below it, and accepts the second.
//   1  the head does not know 21
//   2  the head proposed 22 second and withdrew it
//   3  the head has 23 third and proposed only its best
//   4  24 is not among the head's two recorded tokens
//   5  the target holds 10 at 0.4 and 25 at 0.45
//   6  the target holds 10 at 0.6 and 26 at 0.2
#pragma once

#include <cmath>
#include <string>

#include "core/base/base64.h"
#include "core/capture/writer.h"
#include "tests/unit/viz/captures.h"

namespace triescope::test {

inline void record_failed_drafts(Recorder& out) {
  const auto phase = [&](int step, Phase p) {
    out.write({.phases = {{.tick = make_tick(step, p), .duration_us = 1000}}});
  };
  const auto node = [&](std::int32_t id, std::int32_t parent, std::int32_t token,
                        std::int32_t depth, float p, Source source, Tick tick) {
    out.write({.nodes = {{.node = id,
                          .parent = parent,
                          .token = token,
                          .depth = depth,
                          .logprob = std::log(p),
                          .source = source,
                          .tick = tick,
                          .drafter = is_drafted(source) ? 0 : -1}}});
  };
  const auto listed = [&](Tick tick, std::int32_t above, std::int32_t rank, std::int32_t token,
                          float q, bool chosen) {
    out.write({.candidates = {{.tick = tick,
                               .node = above,
                               .rank = rank,
                               .token = token,
                               .logprob = std::log(q),
                               .chosen = chosen,
                               .whose = Whose::kHead}}});
  };
  const auto verdict = [&](Tick tick, std::int32_t id, Verdict what) {
    out.write({.verdicts = {{.tick = tick, .node = id, .verdict = what}}});
  };
  const auto decide = [&](int step, int drafted, int accepted, std::int32_t leaf) {
    out.write({.frontier = {{.step = step, .node = leaf}}});
    phase(step, Phase::kAccept);
    phase(step, Phase::kCommit);
    out.write({.steps = {{.step = step,
                          .forward_rows = drafted + 1,
                          .drafted = drafted,
                          .accepted = accepted,
                          .emitted = accepted + 1,
                          .frontier = 1}}});
    phase(step, Phase::kObserve);
  };
  RunInfo info = synthetic_info(1, "eagle3", "EAGLE-3", "recycle");
  // The head knows the tokens below 64, but for 21.
  std::string bits(8, '\xff');
  bits[2] = static_cast<char>(0xff & ~(1 << 5));
  info.model_json = R"({"name":"made up","draft":{"family":"draft head","vocabulary":")" +
                    to_base64(bits) + "\"}}";
  out.write({.run = info,
             .drafters = {{.name = "eagle3", .title = "EAGLE-3", .kind = DrafterKind::kHead}},
             .nodes = {{.node = 0}}});
  phase(0, Phase::kDraft);
  phase(0, Phase::kForward);
  node(1, 0, 9, 1, 0.9f, Source::kGreedy, make_tick(0, Phase::kAccept));
  verdict(make_tick(0, Phase::kAccept), 1, Verdict::kEmitted);
  decide(0, 0, 0, 1);
  std::int32_t leaf = 1, next = 2;
  for (int step = 1; step <= 6; ++step) {
    const Tick draft = make_tick(step, Phase::kDraft), accept = make_tick(step, Phase::kAccept);
    const float p_draft = step == 5 ? 0.4f : step == 6 ? 0.6f : 0.1f;
    const float p_came = step == 5 ? 0.45f : step == 6 ? 0.2f : 0.8f;
    const std::int32_t refused = next++, came = next++;
    listed(draft, leaf, 0, 10, 0.5f, true);
    if (step == 2) listed(draft, leaf, 1, 22, 0.25f, true);
    if (step == 3) listed(draft, leaf, 1, 11, 0.3f, false), listed(draft, leaf, 2, 23, 0.1f, false);
    if (step == 4) listed(draft, leaf, 1, 11, 0.3f, false);
    node(refused, leaf, 10, step + 1, p_draft, Source::kDraft, draft);
    if (step == 2) {
      node(came, leaf, 22, step + 1, p_came, Source::kDraft, draft);
      verdict(draft, came, Verdict::kWithdrawn);
    }
    phase(step, Phase::kDraft);
    phase(step, Phase::kForward);
    if (step != 2) node(came, leaf, 20 + step, step + 1, p_came, Source::kCorrected, accept);
    verdict(accept, refused, Verdict::kRejected);
    verdict(accept, came, Verdict::kCorrected);
    decide(step, 1, 0, came);
    leaf = came;
  }
  const Tick draft = make_tick(7, Phase::kDraft), accept = make_tick(7, Phase::kAccept);
  node(next, leaf, 30, 8, 0.1f, Source::kDraft, draft);
  node(next + 1, leaf, 31, 8, 0.9f, Source::kDraft, draft);
  node(next + 2, next, 32, 9, 0.5f, Source::kDraft, draft);
  phase(7, Phase::kDraft);
  phase(7, Phase::kForward);
  node(next + 3, next + 1, 33, 9, 0.7f, Source::kBonus, accept);
  verdict(accept, next, Verdict::kRejected);
  verdict(accept, next + 1, Verdict::kAccepted);
  verdict(accept, next + 2, Verdict::kRejected);
  verdict(accept, next + 3, Verdict::kBonus);
  decide(7, 3, 1, next + 3);
}

inline const Capture& failed_drafts_capture() {
  static const auto opened = make_capture([](Recorder& out) { record_failed_drafts(out); });
  return *opened->capture;
}

}  // namespace triescope::test
