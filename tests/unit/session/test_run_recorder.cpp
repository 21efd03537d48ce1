// What the run recorder hands over, call by call: each row once, when and with what is known then.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/session/run_recorder.h"
#include "tests/support/fake_model.h"

namespace triescope::test::test_run_recorder {
namespace {

using capture::Level;
using capture::Whose;
using Ids = std::vector<std::int32_t>;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// Keeps what is handed over, batch by batch.
struct Batches final : capture::Recorder {
  explicit Batches(Level level = Level::kFull) : level_(level) {}
  Level level() const override { return level_; }
  void write(const capture::RowTables& rows) override { all.push_back(rows); }
  void flush() override {}
  std::vector<capture::RowTables> all;

 private:
  Level level_;
};

// One recorder with what it told, and the phases that make it tell.
struct Recording {
  explicit Recording(Level level = Level::kFull) : batches(level), recorder(batches, tokenizer) {}
  // What a phase hands over.
  const capture::RowTables& told() {
    const auto now = std::chrono::steady_clock::now();
    recorder.phase(tick++, now, now);
    return batches.all.back();
  }

  FakeTokenizer tokenizer{10, {9}};
  Batches batches;
  RunRecorder recorder;
  capture::Tick tick = 0;
};

capture::RunInfo run_of(Ids prompt_tokens) {
  capture::RunInfo info;
  info.method = "beam";
  info.prompt_tokens = std::move(prompt_tokens);
  return info;
}

template <class Rows>
Ids tokens_of(const Rows& rows) {
  Ids tokens;
  for (const auto& row : rows) tokens.push_back(row.token);
  return tokens;
}

NodeId hang(TokenTree& tree, NodeId parent, std::int32_t token, float logprob, float q = 1) {
  return tree.hang(parent, TokenId(token), capture::Source::kDraft, logprob, q).node;
}

}  // namespace

TEST_CASE("run recorder: the run comes first, with the prompt's pieces, each once") {
  Recording r;
  r.recorder.run(run_of({5, 6, 5, 10, -1}), {{.name = "owl"}}, {.name = "triescope"});
  REQUIRE(r.batches.all.size() == 1);
  const capture::RowTables& first = r.batches.all[0];
  REQUIRE(first.run);
  CHECK(first.run->method == "beam");
  REQUIRE(first.drafters.size() == 1);
  CHECK(first.drafters[0].name == "owl");
  REQUIRE(first.programs.size() == 1);
  CHECK(first.programs[0].name == "triescope");
  CHECK(tokens_of(first.pieces) == Ids{5, 6});  // 10 and -1 are not in the vocabulary
  CHECK(first.pieces[1].bytes == r.tokenizer.piece(6));
  CHECK(!r.told().run);  // only once
}

TEST_CASE("run recorder: each node is told once, with its piece where that is new") {
  Recording r;
  r.recorder.run(run_of({5}));
  TokenTree tree(1);
  const NodeId a = hang(tree, TokenTree::root(), 5, -1, 0.5f);
  const NodeId b = hang(tree, a, 7, kUnknown, 0.25f);
  r.recorder.new_nodes(tree, 3);
  r.recorder.new_nodes(tree, 4);
  const capture::RowTables first = r.told();
  CHECK(tokens_of(first.nodes) == Ids{-1, 5, 7});
  CHECK(tokens_of(first.pieces) == Ids{7});
  CHECK(first.nodes[2].node == 2);
  CHECK(first.nodes[2].parent == 1);
  CHECK(first.nodes[2].depth == 2);
  CHECK(first.nodes[2].tick == 3);
  CHECK(first.nodes[1].q == 0.5f);
  CHECK(first.nodes[2].q == 0.25f);
  CHECK(first.nodes[1].logprob == -1);
  CHECK(first.nodes[1].score == -1);
  CHECK(std::isnan(first.nodes[2].logprob));
  CHECK(first.nodes[2].source == capture::Source::kDraft);
  CHECK(first.nodes[2].drafter == 0);
  CHECK(first.nodes[0].drafter == -1);
  hang(tree, b, 7, -2);
  r.recorder.new_nodes(tree, 6);
  const capture::RowTables& second = r.told();
  REQUIRE(second.nodes.size() == 1);
  CHECK(second.nodes[0].node == 3);
  CHECK(second.nodes[0].tick == 6);
  CHECK(second.pieces.empty());
  CHECK(r.told().nodes.empty());
}

TEST_CASE(
    "run recorder: a score is told once, when it is known, and not where it came with the node") {
  Recording r;
  TokenTree tree(1);
  const NodeId known = hang(tree, TokenTree::root(), 1, -1);
  const NodeId draft = hang(tree, known, 2, kUnknown);
  const NodeId other = hang(tree, draft, 3, kUnknown);
  r.recorder.new_nodes(tree, 0);
  r.told();
  const std::vector<NodeId> all = {known, draft, other};
  r.recorder.new_scores(tree, all, 1);
  CHECK(r.told().node_scores.empty());  // nothing is known yet
  tree.set_logprob(draft, -0.5f);
  r.recorder.new_scores(tree, all, 2);
  r.recorder.new_scores(tree, all, 2);
  const capture::RowTables first = r.told();
  REQUIRE(first.node_scores.size() == 1);
  CHECK(first.node_scores[0].node == draft.value);
  CHECK(first.node_scores[0].logprob == -0.5f);
  CHECK(first.node_scores[0].score == -1.5f);
  CHECK(first.node_scores[0].tick == 2);
  tree.set_logprob(other, -0.25f);
  r.recorder.new_scores(tree, all, 7);  // in a later phase, with the older one again
  const capture::RowTables second = r.told();
  REQUIRE(second.node_scores.size() == 1);
  CHECK(second.node_scores[0].node == other.value);
  CHECK(second.node_scores[0].score == -1.75f);
  // A log-prob is told though what is above it is still unknown.
  const NodeId above = hang(tree, TokenTree::root(), 5, kUnknown);
  const NodeId below = hang(tree, above, 6, kUnknown);
  r.recorder.new_nodes(tree, 8);
  r.told();
  tree.set_logprob(below, -3);
  r.recorder.new_scores(tree, std::vector<NodeId>{above, below}, 9);
  const capture::RowTables third = r.told();
  REQUIRE(third.node_scores.size() == 1);
  CHECK(third.node_scores[0].node == below.value);
  CHECK(third.node_scores[0].logprob == -3);
  CHECK(std::isnan(third.node_scores[0].score));
  // A node that was not recorded yet has no score to be told apart from it.
  const NodeId unrecorded = hang(tree, other, 4, -1);
  r.recorder.new_scores(tree, std::vector<NodeId>{unrecorded}, 8);
  CHECK(r.told().node_scores.empty());
}

TEST_CASE("run recorder: slots and candidates get their owner and tick, candidates their pieces") {
  Recording r;
  const std::vector<capture::SlotRow> slots = {{.slot = 4, .node = 0}, {.slot = 5, .node = -2}};
  r.recorder.slots(slots, Whose::kDraft, 11);
  const std::vector<capture::CandidateRow> candidates = {{.node = 0, .rank = 0, .token = 8},
                                                         {.node = 0, .rank = 1, .token = 3}};
  r.recorder.candidates(candidates, Whose::kDraft, 12);
  const capture::RowTables& told = r.told();
  REQUIRE(told.slots.size() == 2);
  CHECK(told.slots[1].slot == 5);
  CHECK(told.slots[1].node == -2);
  CHECK(told.slots[1].tick == 11);
  CHECK(told.slots[1].whose == Whose::kDraft);
  REQUIRE(told.candidates.size() == 2);
  CHECK(told.candidates[1].rank == 1);
  CHECK(told.candidates[1].tick == 12);
  CHECK(told.candidates[1].whose == Whose::kDraft);
  CHECK(tokens_of(told.pieces) == Ids{8, 3});
}

TEST_CASE(
    "run recorder: a decision's verdicts and candidates get its tick, replacements their pieces") {
  Recording r;
  AcceptResult result;
  result.verdicts = {{.node = 1}, {.node = 2, .replacement = 6}};
  result.candidates = {{.node = 1, .token = 4}};
  r.recorder.decision(result, 17);
  CHECK(result.verdicts[1].tick == 17);
  const capture::RowTables& told = r.told();
  REQUIRE(told.verdicts.size() == 2);
  CHECK(told.verdicts[0].tick == 17);
  CHECK(told.verdicts[1].node == 2);
  REQUIRE(told.candidates.size() == 1);
  CHECK(told.candidates[0].tick == 17);
  CHECK(told.candidates[0].whose == Whose::kTarget);
  CHECK(tokens_of(told.pieces) == Ids{6, 4});
}

TEST_CASE("run recorder: a frontier has its ranks and scores, a sequence its tokens and pieces") {
  Recording r;
  TokenTree tree(1);
  const NodeId a = hang(tree, TokenTree::root(), 1, -1);
  const NodeId b = hang(tree, a, 2, -2);
  const NodeId c = hang(tree, a, 3, -0.5f);
  r.recorder.frontier(tree, std::vector<NodeId>{c, b}, 6);
  r.recorder.sequence(tree, {.node = b, .score = -0.75f, .finish = "eos"}, 1, "length", 33);
  const capture::RowTables& told = r.told();
  REQUIRE(told.frontier.size() == 2);
  for (std::int32_t i = 0; i < 2; ++i) {
    const capture::FrontierRow& row = told.frontier[static_cast<std::size_t>(i)];
    CHECK(row.step == 6);
    CHECK(row.rank == i);
    CHECK(row.node == (i == 0 ? c : b).value);
    CHECK(row.score == (i == 0 ? -1.5f : -3.0f));
  }
  REQUIRE(told.sequences.size() == 1);
  CHECK(told.sequences[0].tokens == Ids{1, 2});
  CHECK(told.sequences[0].node == b.value);
  CHECK(told.sequences[0].rank == 1);
  CHECK(told.sequences[0].score == -0.75f);
  CHECK(told.sequences[0].finish == "length");
  CHECK(told.sequences[0].tick == 33);
  CHECK(tokens_of(told.pieces) == Ids{1, 2});
}

TEST_CASE("run recorder: a phase says when it began since the run did, and how long it took") {
  Recording r;
  const auto before = std::chrono::steady_clock::now();
  r.recorder.run(run_of({}));
  const auto after = std::chrono::steady_clock::now();
  using std::chrono::microseconds;
  r.recorder.phase(5, after + microseconds(2000), after + microseconds(2700));
  const capture::RowTables& told = r.batches.all.back();
  REQUIRE(told.phases.size() == 1);
  CHECK(told.phases[0].tick == 5);
  CHECK(told.phases[0].duration_us == 700);
  CHECK(told.phases[0].start_us >= 2000);
  const auto longest = std::chrono::duration_cast<microseconds>(after - before).count() + 2001;
  CHECK(told.phases[0].start_us <= longest);
}

TEST_CASE("run recorder: the end has its status and words, and what was left") {
  Recording r;
  r.recorder.memory({.step = 4});
  r.recorder.step({.step = 4});
  r.recorder.finish(capture::RunStatus::kStopped, "asked to");
  const capture::RowTables& told = r.batches.all.back();
  REQUIRE(told.finish);
  CHECK(told.finish->status == capture::RunStatus::kStopped);
  CHECK(told.finish->message == "asked to");
  CHECK(told.memory.size() == 1);
  CHECK(told.steps.size() == 1);
}

TEST_CASE("run recorder: what is not recorded at a level is not gathered, nor its pieces") {
  Recording r(Level::kOff);
  TokenTree tree(1);
  const NodeId a = hang(tree, TokenTree::root(), 1, -1);
  r.recorder.run(run_of({5}));
  CHECK(r.batches.all.empty());
  r.recorder.new_nodes(tree, 0);
  r.recorder.sequence(tree, {.node = a}, 0, "eos", 0);
  r.recorder.memory({});
  r.recorder.step({});
  const auto now = std::chrono::steady_clock::now();
  r.recorder.phase(0, now, now);
  CHECK(r.batches.all.empty());  // a phase hands nothing over either
  r.recorder.finish(capture::RunStatus::kDone, "");
  REQUIRE(r.batches.all.size() == 1);
  CHECK(r.batches.all[0].nodes.empty());
  CHECK(r.batches.all[0].sequences.empty());
  CHECK(r.batches.all[0].pieces.empty());
  CHECK(r.batches.all[0].memory.empty());
  CHECK(r.batches.all[0].steps.empty());
}

}  // namespace triescope::test::test_run_recorder
