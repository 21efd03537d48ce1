// A short run of a mixture, every row written out: two layers of four experts, of which a row goes through two.
// Step 1 reads the pending node 1 and three drafts, step 2 the correction alone.
//
// node (token)   0 ─ 1 (10) ─ 2 (20) ─ 3 (30) ─ 4 (40)
//                    └─ 5 (21) the correction
//           layer 0   layer 1
// node 1    0 1       2 3
// node 2    0 2       2 3
// node 3    1 2       0 3      so step 1 reads 3 + 3 = 6 different ones, and for node 1 alone 2 + 2
// node 4    0 1       2 3
// node 5    1 3       0 1      step 2
#pragma once

#include "core/capture/writer.h"
#include "tests/unit/viz/captures.h"

namespace triescope::test {

inline RunInfo mixture_info() {
  RunInfo info = synthetic_info(1, "prompt_lookup", "Prompt lookup", "recycle");
  info.model_json =
      R"({"name":"m","layers":2,"experts":4,"experts_used":2,"active_bytes":1000,"expert_bytes":100})";
  return info;
}

inline void record_mixture(Recorder& out, const RunInfo& info) {
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
                          .tick = tick}}});
  };
  const auto row = [&](int step, std::int32_t place, std::int32_t of) {
    out.write({.inputs = {{.step = step, .row = place, .node = of, .slot = place}}});
  };
  const auto chose = [&](Tick tick, std::int32_t of, std::int32_t layer,
                         std::vector<std::int32_t> experts) {
    out.write({.experts = {{.tick = tick,
                            .node = of,
                            .layer = layer,
                            .experts = std::move(experts),
                            .weights = {0.75f, 0.25f}}}});
  };
  const auto close = [&](int step, StepRow of) {
    phase(step, Phase::kAccept);
    phase(step, Phase::kCommit);
    of.step = step;
    out.write({.steps = {of}});
    phase(step, Phase::kObserve);
  };
  out.write({.run = info, .nodes = {{.node = 0}}});
  for (const std::int32_t token : {10, 20, 21, 30, 40})
    out.write({.pieces = {{token, "t" + std::to_string(token)}}});
  phase(0, Phase::kDraft);
  phase(0, Phase::kForward);
  node(1, 0, 10, 1, Source::kGreedy, make_tick(0, Phase::kAccept));
  out.write({.frontier = {{.step = 0, .node = 1}}});
  close(0, {.forward_rows = 1, .emitted = 1, .frontier = 1});

  const Tick draft = make_tick(1, Phase::kDraft), forward = make_tick(1, Phase::kForward);
  node(2, 1, 20, 2, Source::kDraft, draft);
  node(3, 2, 30, 3, Source::kDraft, draft);
  node(4, 3, 40, 4, Source::kDraft, draft);
  phase(1, Phase::kDraft);
  for (std::int32_t i = 0; i < 4; ++i) row(1, i, i + 1);
  for (const std::int32_t layer : {0, 1}) {
    chose(forward, 1, layer, layer == 0 ? std::vector{0, 1} : std::vector{2, 3});
    chose(forward, 2, layer, layer == 0 ? std::vector{0, 2} : std::vector{2, 3});
    chose(forward, 3, layer, layer == 0 ? std::vector{1, 2} : std::vector{0, 3});
    chose(forward, 4, layer, layer == 0 ? std::vector{0, 1} : std::vector{2, 3});
  }
  phase(1, Phase::kForward);
  const Tick accept = make_tick(1, Phase::kAccept);
  node(5, 1, 21, 2, Source::kCorrected, accept);
  for (const std::int32_t refused : {2, 3, 4})
    out.write({.verdicts = {{.tick = accept, .node = refused, .verdict = Verdict::kRejected}}});
  out.write({.frontier = {{.step = 1, .node = 5}}});
  close(1, {.forward_rows = 4, .drafted = 3, .emitted = 1, .frontier = 1});

  phase(2, Phase::kDraft);
  row(2, 0, 5);
  chose(make_tick(2, Phase::kForward), 5, 0, {1, 3});
  chose(make_tick(2, Phase::kForward), 5, 1, {0, 1});
  phase(2, Phase::kForward);
  close(2, {.forward_rows = 1, .emitted = 1, .frontier = 1});
  out.write({.finish = Finish{}});
}

inline const Capture& mixture_capture() {
  static const auto opened =
      make_capture([](Recorder& out) { record_mixture(out, mixture_info()); });
  return *opened->capture;
}

}  // namespace triescope::test
