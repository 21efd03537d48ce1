// What a session records of a draw: p after every stage, and what u or the Gumbel noise fell on.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/sampling/warpers.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_stages {
namespace {

using capture::Phase;
using capture::Stage;
using capture::StageRow;

std::vector<float> logits_at(const Rig& rig, std::int32_t node, std::vector<std::int32_t> path) {
  for (const TokenId token : rig.session->tree().tokens_to(NodeId(node)))
    path.push_back(token.value);
  return rig.model.logits_of(path);
}

const capture::VerdictRow& emitted(const Rig& rig, capture::Tick tick) {
  const auto found = std::ranges::find_if(rig.recorder.verdict_rows, [&](const auto& row) {
    return row.tick == tick && row.verdict != capture::Verdict::kFinished &&
           row.verdict != capture::Verdict::kAccepted && row.verdict != capture::Verdict::kRejected;
  });
  REQUIRE(found != rig.recorder.verdict_rows.end());
  return *found;
}

TEST_CASE(
    "stages: p after the temperature and after every cut, as the warpers up to there leave it") {
  Rig rig;
  rig.start("sample",
            {{"temperature", 0.6}, {"top_k", 6}, {"top_p", 0.8}, {"min_p", 0.2}, {"candidates", 8}},
            {5, 6, 7}, 6)
      .run();
  const std::map<Stage, Warpers> until = {
      {Stage::kTemperature, Warpers(Settings(nlohmann::json{{"temperature", 0.6}}))},
      {Stage::kTopK, Warpers(Settings(nlohmann::json{{"temperature", 0.6}, {"top_k", 6}}))},
      {Stage::kTopP,
       Warpers(Settings(nlohmann::json{{"temperature", 0.6}, {"top_k", 6}, {"top_p", 0.8}}))},
      {Stage::kMinP, Warpers(Settings(nlohmann::json{
                         {"temperature", 0.6}, {"top_k", 6}, {"top_p", 0.8}, {"min_p", 0.2}}))}};
  std::map<Stage, int> rows;
  int cut = 0;
  for (const StageRow& row : rig.recorder.stage_rows) {
    if (row.stage == Stage::kDrawn) continue;
    REQUIRE(until.contains(row.stage));
    CHECK(capture::phase_of(row.tick) == Phase::kForward);
    CHECK(std::isnan(row.at));
    const auto d = until.at(row.stage).apply(logits_at(rig, row.node, {5, 6, 7}));
    CHECK(row.p == doctest::Approx(d.probability(row.token)).epsilon(1e-5));
    cut += row.p == 0;
    ++rows[row.stage];
  }
  CHECK(rows.size() == 4);
  // Eight tokens a row; two of them fall to top-k.
  for (const auto& [stage, count] : rows) CHECK(count == 8 * 6);
  CHECK(cut >= 3 * 2 * 6);
}

TEST_CASE("stages: those that are off are not recorded; greedy decoding has none") {
  Rig plain;
  plain.start("sample", {{"top_k", 0}, {"candidates", 4}}, {5, 6, 7}, 4).run();
  for (const StageRow& row : plain.recorder.stage_rows) CHECK(row.stage == Stage::kDrawn);
  CHECK_FALSE(plain.recorder.stage_rows.empty());
  Rig greedy;
  greedy.start("greedy", {{"candidates", 4}}, {5, 6, 7}, 4).run();
  CHECK(greedy.recorder.stage_rows.empty());
  CHECK_FALSE(greedy.recorder.candidate_rows.empty());
  Rig penalised;
  penalised.start("greedy", {{"candidates", 4}, {"repetition_penalty", 1.5}}, {5, 6, 7}, 4).run();
  CHECK_FALSE(penalised.recorder.stage_rows.empty());
  for (const StageRow& row : penalised.recorder.stage_rows) CHECK(row.stage == Stage::kProcessors);
  Rig unrecorded({}, capture::Level::kTree);
  unrecorded.start("sample", {{"candidates", 4}}, {5, 6, 7}, 4).run();
  CHECK(unrecorded.recorder.stage_rows.empty());
}

TEST_CASE("stages: u lies in the drawn token's share of the running sum, and in no other's") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Rig rig;
    rig.start("sample", {{"top_k", 5}, {"candidates", 12}}, {5, 6, 7}, 5, seed).run();
    int draws = 0;
    for (const StageRow& row : rig.recorder.stage_rows) {
      if (row.stage != Stage::kDrawn) continue;
      CHECK(capture::phase_of(row.tick) == Phase::kAccept);
      const auto& verdict = emitted(rig, row.tick);
      const std::int32_t drawn = rig.session->tree()[NodeId(verdict.node)].token.value;
      const bool hit = row.p > 0 && row.at <= verdict.u && verdict.u < row.at + row.p;
      CHECK(hit == (row.token == drawn));
      if (row.token != drawn) continue;
      CHECK(row.p == doctest::Approx(verdict.p));
      ++draws;
      // The sum of everything with a lower id.
      const auto d = Warpers(Settings(nlohmann::json{{"top_k", 5}}))
                         .apply(logits_at(rig, row.node, {5, 6, 7}));
      double below = 0;
      for (std::size_t i = 0; d.tokens[i] < row.token; ++i) below += d.probabilities[i];
      CHECK(row.at == doctest::Approx(below));
    }
    CHECK(draws == 5);
  }
}

TEST_CASE(
    "stages: Gumbel-max takes the largest of the recorded scores, with the same random numbers") {
  for (const char* method : {"sample", "ngram_trie"}) {
    CAPTURE(method);
    Rig rig;
    nlohmann::json settings = {{"sampler", "gumbel"}, {"top_k", 0}, {"candidates", 32}};
    if (std::string(method) != "sample") settings["verify"] = "sample";
    rig.start(method, settings, {5, 6, 7, 5, 6, 7, 5, 6, 7}, 8, 3).run();
    std::map<capture::Tick, std::pair<float, std::int32_t>> best;
    for (const StageRow& row : rig.recorder.stage_rows) {
      if (row.stage != Stage::kDrawn) continue;
      REQUIRE_FALSE(std::isnan(row.at));
      auto [at, is_new] = best.try_emplace(row.tick, row.at, row.token);
      if (row.at > at->second.first) at->second = {row.at, row.token};
    }
    CHECK_FALSE(best.empty());
    for (const auto& [tick, token] : best)
      CHECK(rig.session->tree()[NodeId(emitted(rig, tick).node)].token.value == token.second);
  }
}

TEST_CASE(
    "stages: drafts drawn from q: q is recorded, and after a refusal the residual drawn from") {
  Rig rig;
  rig.draft_with({.seed = 9});
  rig.start("draft_model", {{"verify", "sample"}, {"candidates", 32}, {"top_k", 0}}, {5, 6, 7}, 24,
            5)
      .run();
  std::map<std::pair<capture::Tick, std::int32_t>, std::map<std::int32_t, float>> q, drawn;
  for (const StageRow& row : rig.recorder.stage_rows) {
    const capture::Tick step = capture::step_of(row.tick);
    if (row.stage == Stage::kProposal) q[{step, row.node}][row.token] = row.p;
    if (row.stage == Stage::kDrawn) drawn[{step, row.node}][row.token] = row.p;
  }
  int refused = 0;
  for (const auto& [key, from] : drawn) {
    const auto& verdict =
        emitted(rig, capture::make_tick(static_cast<std::int32_t>(key.first), Phase::kAccept));
    if (verdict.reason != capture::Reason::kDrawnFromResidual) continue;
    ++refused;
    REQUIRE(q.contains(key));
    const auto d =
        Warpers(Settings(nlohmann::json::object())).apply(logits_at(rig, key.second, {5, 6, 7}));
    double sum = 0;
    for (const auto& [token, share] : q.at(key))
      sum += std::max(0.0, static_cast<double>(d.probability(token)) - share);
    for (const auto& [token, share] : from)
      CHECK(share ==
            doctest::Approx(std::max(0.0f, d.probability(token) - q.at(key).at(token)) / sum)
                .epsilon(1e-3));
  }
  CHECK(refused > 0);
}

}  // namespace
}  // namespace triescope::test::test_stages
