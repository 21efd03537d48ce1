// How one token is drawn from one row, for a run made by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "viz/query/draw_decision.h"

namespace triescope::viz::test_draw_decision {
namespace {

using namespace capture;
using test::make_capture;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

// Four tokens with p 0.4, 0.3, 0.2, 0.1; top-k 3, top-p 0.7 leave the first two; token 7 is drawn.
void record(Recorder& out, bool stages, float u, Reason reason) {
  RunInfo info;
  info.method = "sample";
  info.settings_json = R"({"top_k":3,"top_p":0.7})";
  info.prompt_tokens = {1};
  info.max_new_tokens = 4;
  out.write({.run = info, .nodes = {{}}});
  const auto phase = [&](Phase which) { out.write({.phases = {{.tick = make_tick(0, which)}}}); };
  phase(Phase::kDraft);
  const Tick forward = make_tick(0, Phase::kForward), accept = make_tick(0, Phase::kAccept);
  const std::vector<std::int32_t> tokens = {5, 7, 3, 8};
  const std::vector<float> p = {0.4f, 0.3f, 0.2f, 0.1f}, top_k = {0.444f, 0.333f, 0.222f, 0},
                           top_p = {0.571f, 0.429f, 0, 0};
  std::vector<CandidateRow> candidates;
  std::vector<StageRow> rows;
  for (std::size_t i = 0; i < 4; ++i)
    candidates.push_back({.tick = forward,
                          .rank = static_cast<std::int32_t>(i),
                          .token = tokens[i],
                          .logprob = std::log(p[i])});
  for (std::size_t i = 0; i < 4; ++i)
    rows.push_back({.tick = forward, .stage = Stage::kTopK, .token = tokens[i], .p = top_k[i]});
  for (std::size_t i = 0; i < 4; ++i)
    rows.push_back({.tick = forward, .stage = Stage::kTopP, .token = tokens[i], .p = top_p[i]});
  out.write({.candidates = candidates});
  if (stages) out.write({.stages = rows});
  phase(Phase::kForward);
  if (stages)
    out.write(
        {.stages = {{.tick = accept, .stage = Stage::kDrawn, .token = 5, .p = 0.571f, .at = 0},
                    {.tick = accept, .stage = Stage::kDrawn, .token = 7, .p = 0.429f, .at = 0.571f},
                    {.tick = accept, .stage = Stage::kDrawn, .token = 3, .p = 0, .at = kNone}}});
  out.write({.nodes = {{.node = 1,
                        .parent = 0,
                        .token = 7,
                        .depth = 1,
                        .logprob = std::log(0.3f),
                        .score = std::log(0.3f),
                        .source = Source::kSampled,
                        .tick = accept}}});
  out.write({.verdicts = {{.tick = accept,
                           .node = 1,
                           .verdict = Verdict::kEmitted,
                           .p = 0.429f,
                           .u = u,
                           .rank = 1,
                           .reason = reason}}});
  out.write({.frontier = {{.step = 0, .rank = 0, .node = 1}}});
  phase(Phase::kAccept);
  phase(Phase::kCommit);
  phase(Phase::kObserve);
}

TEST_CASE(
    "draw decision: p at every stage that was recorded, in their order, best of the last first") {
  const auto opened = make_capture([](Recorder& out) { record(out, true, 0.6f, Reason::kDrawn); });
  const auto decision = draw_decision(*opened->capture, make_tick(0, Phase::kCommit));
  CHECK(decision.step == 0);
  CHECK(decision.node == 0);
  CHECK(decision.decided);
  CHECK(decision.token == 7);
  CHECK(decision.child == 1);
  CHECK(decision.u == 0.6f);
  CHECK_FALSE(decision.gumbel);
  CHECK_FALSE(decision.from_rest);
  CHECK(decision.stages == std::vector<Stage>{Stage::kTopK, Stage::kTopP});
  REQUIRE(decision.tokens.size() == 4);
  const std::int32_t tokens[] = {5, 7, 3, 8};
  for (std::size_t i = 0; i < 4; ++i) CHECK(decision.tokens[i].token == tokens[i]);
  CHECK(decision.tokens[1].p[0] == doctest::Approx(0.3));
  CHECK(decision.tokens[1].p[1] == 0.333f);
  CHECK(decision.tokens[1].p[2] == 0.429f);
  CHECK(decision.tokens[1].at == 0.571f);
  CHECK(decision.tokens[1].drawn_p == 0.429f);
  CHECK(decision.tokens[2].p[1] == 0.222f);
  CHECK(decision.tokens[2].p[2] == 0);
  CHECK(std::isnan(decision.tokens[2].at));
  CHECK(std::isnan(decision.tokens[3].drawn_p));
  CHECK(std::isnan(decision.tokens[0].q));
}

TEST_CASE("draw decision: before the draw the stages are known, the draw is not") {
  const auto opened = make_capture([](Recorder& out) { record(out, true, 0.6f, Reason::kDrawn); });
  const auto decision = draw_decision(*opened->capture, make_tick(0, Phase::kAccept));
  CHECK(decision.step == 0);
  CHECK_FALSE(decision.decided);
  CHECK(decision.token == -1);
  CHECK(decision.child == -1);
  CHECK(decision.u == -1);
  CHECK(decision.stages.size() == 2);
  REQUIRE(decision.tokens.size() == 4);
  CHECK(decision.tokens[0].p[2] == 0.571f);
  CHECK(std::isnan(decision.tokens[0].at));
  CHECK(draw_decision(*opened->capture, make_tick(0, Phase::kForward)).step == -1);
}

TEST_CASE("draw decision: without recorded stages there is the model's p alone") {
  const auto opened =
      make_capture([](Recorder& out) { record(out, false, -1, Reason::kGumbelArgmax); });
  const auto decision = draw_decision(*opened->capture, make_tick(0, Phase::kCommit));
  CHECK(decision.stages.empty());
  CHECK(decision.gumbel);
  CHECK(decision.u == -1);
  REQUIRE(decision.tokens.size() == 4);
  for (const DrawToken& token : decision.tokens) {
    CHECK(token.p.size() == 1);
    CHECK(std::isnan(token.at));
  }
  CHECK(decision.token == 7);
}

TEST_CASE("draw decision: what is drawn from what drafts left says so") {
  for (const Reason reason :
       {Reason::kDrawnFromResidual, Reason::kDrawnFromRest, Reason::kDrawnFromTypical}) {
    const auto opened = make_capture([&](Recorder& out) { record(out, true, 0.6f, reason); });
    CHECK(draw_decision(*opened->capture, make_tick(0, Phase::kCommit)).from_rest);
  }
}

TEST_CASE(
    "draw decision: a text that ends there has a second verdict, the draw stands in the first") {
  const auto opened = make_capture([](Recorder& out) {
    record(out, true, 0.6f, Reason::kDrawn);
    out.write({.verdicts = {{.tick = make_tick(0, Phase::kAccept),
                             .node = 1,
                             .verdict = Verdict::kFinished,
                             .reason = Reason::kEos}}});
  });
  const auto decision = draw_decision(*opened->capture, make_tick(0, Phase::kCommit));
  CHECK(decision.token == 7);
  CHECK(decision.u == 0.6f);
}

}  // namespace
}  // namespace triescope::viz::test_draw_decision
