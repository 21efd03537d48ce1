// What a session tells its recorder.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/support/session_run.h"

namespace triescope::test::test_recording {
namespace {

using capture::Level;
using capture::Phase;
using capture::Verdict;

TEST_CASE("recording: run, steps and phases come in order, five phases a step") {
  Rig rig;
  rig.start("beam", {{"num_beams", 4}}, {5, 6, 7}, 10).run();
  const auto& r = rig.recorder;
  CHECK(r.run_info.method == "beam");
  CHECK(r.run_info.prompt_tokens == std::vector<std::int32_t>{5, 6, 7});
  CHECK(r.run_info.kv_policy == "recycle");
  CHECK(r.run_info.kv_bytes_per_token == 64);
  CHECK(nlohmann::json::parse(r.run_info.settings_json)["num_beams"] == 4);
  CHECK(nlohmann::json::parse(r.run_info.model_json)["vocab_size"] == 32);
  REQUIRE(r.phases.size() == r.steps.size() * 5);
  for (std::size_t i = 0; i < r.phases.size(); ++i) {
    CHECK(r.phases[i].tick == static_cast<capture::Tick>(i));
    CHECK(r.phases[i].duration_us >= 0);
    if (i > 0) CHECK(r.phases[i].start_us >= r.phases[i - 1].start_us);
  }
  for (std::size_t i = 0; i < r.steps.size(); ++i) {
    CHECK(r.steps[i].step == static_cast<std::int32_t>(i));
    CHECK(r.steps[i].forward_rows == (i == 0 ? 3 : 4));
    CHECK(r.steps[i].emitted == 1);
  }
  CHECK(r.memory_rows.size() == r.steps.size());
  CHECK(r.status == capture::RunStatus::kDone);
  CHECK(r.finishes == 1);
  // The run, each phase and the end are handed over at once.
  CHECK(r.writes == 1 + static_cast<int>(r.phases.size()) + 1);
}

TEST_CASE("recording: a value that stands for something else is recorded with its word") {
  Rig rig;
  rig.start("ngram_trie", {{"top_k", 0}, {"min_length", 2}}, {5, 6, 7}, 4).run();
  const auto settings = nlohmann::json::parse(rig.recorder.run_info.settings_json),
             words = nlohmann::json::parse(rig.recorder.run_info.setting_words_json);
  CHECK(settings["num_draft"] == 0);
  CHECK(words["num_draft"] == "auto");
  CHECK(words["top_k"] == "all");
  CHECK(words["eos_token_id"] == "the model's own");
  CHECK(words["bad_words_ids"] == "none");
  CHECK_FALSE(words.contains("min_length"));
  CHECK_FALSE(words.contains("temperature"));
}

TEST_CASE("recording: nodes are dense, parents first, each with a piece, a score and a tick") {
  Rig rig;
  rig.start("beam", {{"num_beams", 4}}, {5, 6, 7}, 10).run();
  const auto& rows = rig.recorder.node_rows;
  REQUIRE(static_cast<std::int32_t>(rows.size()) == rig.session->tree().size());
  CHECK(rows[0].token == -1);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto& parent = rows[static_cast<std::size_t>(row.parent)];
    CHECK(row.node == static_cast<std::int32_t>(i));
    CHECK(row.parent < row.node);
    CHECK(row.depth == parent.depth + 1);
    CHECK(row.score == doctest::Approx(parent.score + row.logprob));
    CHECK(row.tick >= rows[i - 1].tick);
    CHECK(capture::phase_of(row.tick) == Phase::kAccept);
    CHECK(row.source == capture::Source::kBeam);
    CHECK(rig.recorder.pieces.count(row.token) == 1);
  }
  for (const std::int32_t token : {5, 6, 7}) CHECK(rig.recorder.pieces.count(token) == 1);
}

TEST_CASE("recording: every input has its node, position and slot; siblings share a position") {
  Rig rig({.eos_boost = -9});
  rig.start("beam", {{"num_beams", 4}}, {5, 6, 7}, 8).run();
  std::map<std::int32_t, int> rows;
  for (const auto& row : rig.recorder.input_rows) {
    CHECK(row.row == rows[row.step]++);
    if (row.node < 0) {
      CHECK(row.position == -2 - row.node);
    } else {
      CHECK(row.position == rig.session->tree().position(NodeId(row.node)));
      if (row.row > 0) CHECK(row.naive_position != row.position);
    }
  }
  CHECK(rows[0] == 3);
  CHECK(rows[1] == 4);
}

TEST_CASE("recording: candidates are the best of their row, known before anything is decided") {
  Rig rig;
  rig.start("beam", {{"num_beams", 3}, {"candidates", 5}}, {5, 6, 7}, 6).run();
  std::map<std::pair<capture::Tick, std::int32_t>, std::vector<capture::CandidateRow>> of;
  for (const auto& row : rig.recorder.candidate_rows) of[{row.tick, row.node}].push_back(row);
  REQUIRE_FALSE(of.empty());
  const auto& tree = rig.session->tree();
  for (const auto& [key, rows] : of) {
    CHECK(rows.size() == 5);
    CHECK(capture::phase_of(key.first) == Phase::kForward);
    std::vector<std::int32_t> path = {5, 6, 7};
    for (const TokenId token : tree.tokens_to(NodeId(key.second))) path.push_back(token.value);
    const auto logits = rig.model.logits_of(path);
    CHECK(rows[0].token == std::max_element(logits.begin(), logits.end()) - logits.begin());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i].rank == static_cast<std::int32_t>(i));
      if (i > 0) CHECK(rows[i].logprob <= rows[i - 1].logprob);
      CHECK_FALSE(rows[i].chosen);
      CHECK(rig.recorder.pieces.count(rows[i].token) == 1);
    }
  }
}

TEST_CASE("recording: kept beams have their rank and their distance to the best one left out") {
  Rig rig({.eos_boost = -9});
  rig.start("beam", {{"num_beams", 3}}, {5, 6, 7}, 8).run();
  std::map<capture::Tick, int> kept;
  for (const auto& row : rig.recorder.verdict_rows) {
    CHECK(row.reason != capture::Reason::kNone);
    CHECK(row.gap >= 0);
    if (row.verdict == Verdict::kKept) {
      CHECK(row.rank == kept[row.tick]++);
      CHECK(row.reason == capture::Reason::kBeamKept);
      CHECK(row.count == 3);
      CHECK(row.threshold == doctest::Approx(row.score - row.gap));
      CHECK(row.p > 0);
      CHECK(row.p <= 1);
      CHECK(row.score == rig.session->tree()[NodeId(row.node)].score);
    }
  }
  for (const auto& [tick, count] : kept) CHECK(count == 3);
  CHECK(kept.size() == 7);  // the last step finishes them all
}

TEST_CASE("recording: a node is pruned at most once, and every dead beam has a verdict") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Rig rig({.seed = seed});
    rig.start("beam", {{"num_beams", 4}}, {5, 6, 7}, 20).run();
    std::map<std::int32_t, int> pruned;
    std::set<std::int32_t> on_text;
    for (const auto& row : rig.recorder.sequence_rows)
      for (NodeId id{row.node}; id.valid(); id = rig.session->tree()[id].parent)
        on_text.insert(id.value);
    for (const auto& row : rig.recorder.verdict_rows)
      if (row.verdict == Verdict::kPruned) ++pruned[row.node];
    for (std::int32_t i = 1; i < rig.session->tree().size(); ++i) {
      const bool dead = rig.session->tree()[NodeId(i)].status == NodeStatus::kDead;
      if (dead && !on_text.contains(i)) CHECK(pruned[i] == 1);
      CHECK(pruned[i] <= 1);
    }
  }
}

TEST_CASE("recording: returned sequences come last, ranked, with their tokens") {
  Rig rig({.eos_boost = 2});
  rig.start("beam", {{"num_beams", 4}, {"num_return_sequences", 3}}, {5, 6, 7}, 10).run();
  const RunResult result = rig.session->result();
  std::vector<capture::SequenceRow> returned;
  for (const auto& row : rig.recorder.sequence_rows)
    if (row.rank >= 0) returned.push_back(row);
  REQUIRE(returned.size() == result.sequences.size());
  for (std::size_t i = 0; i < returned.size(); ++i) {
    CHECK(returned[i].rank == static_cast<std::int32_t>(i));
    CHECK(returned[i].tokens == result.sequences[i].tokens);
    CHECK(returned[i].score == static_cast<float>(result.sequences[i].score));
    CHECK(returned[i].finish == result.sequences[i].finish);
  }
}

TEST_CASE("recording: a draft's target probability is told once it is known") {
  Rig rig({.vocab_size = 6, .eos_boost = -9});
  rig.start("prompt_lookup", {}, {1, 2, 3, 1, 2, 3, 4, 1, 2}, 30).run();
  std::set<std::int32_t> unknown, told;
  for (const auto& row : rig.recorder.node_rows)
    if (row.node > 0 && std::isnan(row.logprob)) {
      unknown.insert(row.node);
      CHECK(capture::phase_of(row.tick) == Phase::kDraft);
      CHECK(capture::is_draft(row));
    }
  for (const auto& row : rig.recorder.score_rows) {
    CHECK(told.insert(row.node).second);
    CHECK_FALSE(std::isnan(row.logprob));
  }
  CHECK_FALSE(unknown.empty());
  CHECK(unknown == told);
}

TEST_CASE("recording: each level holds what it promises, and the text is the same") {
  std::vector<std::vector<std::vector<std::int32_t>>> texts;
  for (const Level level : {Level::kOff, Level::kSteps, Level::kTree, Level::kFull}) {
    CAPTURE(static_cast<int>(level));
    Rig rig({}, level);
    rig.start("beam", {{"num_beams", 3}}, {5, 6, 7}, 8).run();
    texts.push_back(tokens_of(rig.session->result()));
    const auto& r = rig.recorder;
    CHECK(r.steps.empty() == (level < Level::kSteps));
    CHECK(r.memory_rows.empty() == (level < Level::kSteps));
    CHECK(r.sequence_rows.empty() == (level < Level::kSteps));
    CHECK(r.phases.empty() == (level < Level::kSteps));
    CHECK(r.node_rows.empty() == (level < Level::kTree));
    CHECK(r.verdict_rows.empty() == (level < Level::kTree));
    CHECK(r.frontier_rows.empty() == (level < Level::kTree));
    CHECK(r.candidate_rows.empty() == (level < Level::kFull));
    CHECK(r.input_rows.empty() == (level < Level::kFull));
    CHECK(r.slot_rows.empty() == (level < Level::kFull));
  }
  for (const auto& text : texts) CHECK(text == texts.front());
}

TEST_CASE("recording: the same run gives the same rows") {
  const auto run = [](const char* method) {
    auto rig = std::make_unique<Rig>(FakeOptions{.vocab_size = 12});
    rig->start(method, nlohmann::json::object(), {1, 2, 3, 1, 2, 3, 4, 1, 2}, 20, 3).run();
    return rig;
  };
  for (const char* method :
       {"beam", "batch_beam", "greedy", "sample", "ngram_trie", "prompt_lookup"}) {
    CAPTURE(method);
    const auto a = run(method), b = run(method);
    REQUIRE(a->recorder.node_rows.size() == b->recorder.node_rows.size());
    for (std::size_t i = 0; i < a->recorder.node_rows.size(); ++i) {
      CHECK(a->recorder.node_rows[i].token == b->recorder.node_rows[i].token);
      CHECK(a->recorder.node_rows[i].parent == b->recorder.node_rows[i].parent);
      CHECK(a->recorder.node_rows[i].tick == b->recorder.node_rows[i].tick);
    }
    REQUIRE(a->recorder.verdict_rows.size() == b->recorder.verdict_rows.size());
    for (std::size_t i = 0; i < a->recorder.verdict_rows.size(); ++i) {
      const auto &x = a->recorder.verdict_rows[i], &y = b->recorder.verdict_rows[i];
      CHECK(x.reason == y.reason);
      CHECK(x.value == y.value);
      CHECK(x.threshold == y.threshold);
      CHECK(x.count == y.count);
      CHECK(x.why.empty());
    }
    REQUIRE(a->recorder.slot_rows.size() == b->recorder.slot_rows.size());
    for (std::size_t i = 0; i < a->recorder.slot_rows.size(); ++i) {
      CHECK(a->recorder.slot_rows[i].slot == b->recorder.slot_rows[i].slot);
      CHECK(a->recorder.slot_rows[i].node == b->recorder.slot_rows[i].node);
    }
    CHECK(a->recorder.run_info.settings_json == b->recorder.run_info.settings_json);
  }
}

}  // namespace
}  // namespace triescope::test::test_recording
