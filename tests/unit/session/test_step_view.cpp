// What a session hands its drafter and tells the recorder: rows, logits, features, the text so far;
// room, withdrawn drafts; the memory rows and step figures of small runs worked out by hand; a
// branch's start.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/kernels/row_ops.h"
#include "core/methods/registry.h"
#include "core/tree/slot_store.h"
#include "core/verify/text_acceptor.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_step_view {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
const Tokens kPrompt = {5, 6, 7};

Tokens values(std::span<const NodeId> nodes) {
  Tokens out;
  for (const NodeId node : nodes) out.push_back(node.value);
  return out;
}
Tokens text_to(const TokenTree& tree, NodeId node) {
  Tokens text = kPrompt;
  for (const TokenId token : tree.tokens_to(node)) text.push_back(token.value);
  return text;
}

// Drafts the model's best chain of three, with a wrong token beside each; the last wrong one is
// withdrawn. Notes all that it is shown.
class Watcher final : public Drafter {
 public:
  struct Seen {
    int step;
    Tokens rows, frontier, next, text;
    std::size_t proposals;
  };
  struct Notes {
    std::vector<Seen> seen;
    std::vector<int> rooms;
    int layers_asked = 0, drafts = 0;
    bool features_after_prefill = false;
  };
  Watcher(const FakeModel& model, Notes& notes) : model_(model), notes_(notes) {}

  std::vector<std::int32_t> feature_layers() const override {
    ++notes_.layers_asked;
    return {3, 1};
  }
  Drafts draft(DraftContext& context) override {
    ++notes_.drafts;
    notes_.rooms.push_back(context.room);
    Drafts drafts;
    NodeId at = context.frontier.front();
    for (int i = 0; i < std::min(3, context.room); ++i) {
      const auto logits = model_.logits_of(text_to(context.tree, at));
      const std::int32_t best = kernels::argmax(logits), wrong = best == 1 ? 2 : 1;
      const NodeId bad =
          context.tree.hang(at, TokenId(wrong), capture::Source::kDraft, kUnknown, 0.25f).node;
      (i == 2 ? drafts.withdrawn : drafts.sent).push_back(bad);
      drafts.proposals[at].draws = {bad};
      at = context.tree.hang(at, TokenId(best), capture::Source::kDraft, kUnknown).node;
      drafts.sent.push_back(at);
    }
    return drafts;
  }
  void observe(const StepView& view) override {
    notes_.seen.push_back({view.step, values(view.rows), values(view.frontier),
                           values(view.next_frontier), values(view.text), view.proposals->size()});
    for (std::size_t i = 0; i < view.rows.size(); ++i) {
      const int row = static_cast<int>(i);
      const Tokens text = text_to(view.tree, view.rows[i]);
      CHECK(view.row_of(view.rows[i]) == row);
      CHECK(std::ranges::equal(view.logits(row), model_.logits_of(text)));
      for (const std::int32_t layer : {3, 1})
        CHECK(std::ranges::equal(view.feature(row, layer), model_.feature_of(text, layer)));
    }
    CHECK(view.row_of(NodeId(9999)) == -1);
    if (view.step == 0) {
      Tokens text;
      for (const std::int32_t token : text_to(view.tree, view.frontier[0])) {
        text.push_back(token);
        for (const std::int32_t layer : {3, 1})
          CHECK(
              std::ranges::equal(view.feature_at(static_cast<std::int32_t>(text.size()) - 1, layer),
                                 model_.feature_of(text, layer)));
      }
    } else {
      try {
        (void)view.feature_at(0, 3);
        notes_.features_after_prefill = true;
      } catch (const std::exception&) {
      }
    }
  }

 private:
  const FakeModel& model_;
  Notes& notes_;
};

struct Watched {
  explicit Watched(int max_new_tokens, FakeOptions options = {.eos_token_ids = {}})
      : model(options), tokenizer(options.vocab_size, {}) {
    method = find_method("greedy");
    method.name = "watched";
    method.make = [this](const RunContext& run) {
      return MethodParts{std::make_unique<Watcher>(model, notes),
                         std::make_unique<TextAcceptor>(run, verify_greedy)};
    };
    RunConfig config;
    config.prompt_tokens = kPrompt;
    config.max_new_tokens = max_new_tokens;
    session = std::make_unique<Session>(model, tokenizer, method, config, recorder);
  }
  Watcher::Notes notes;
  FakeModel model;
  FakeTokenizer tokenizer;
  MemoryRecorder recorder;
  MethodInfo method;
  std::unique_ptr<Session> session;
};

TEST_CASE(
    "step view: a drafter reads every step, prefill included: its rows, features and what was decided") {
  Watched run(7);
  run.session->run();
  CHECK(run.notes.layers_asked == 1);
  CHECK(run.notes.drafts == 2);
  CHECK_FALSE(run.notes.features_after_prefill);
  // 1 is the pending node after prefill; 2 3 4 5 6 7 are wrong, right, wrong, right, withdrawn,
  // right.
  CHECK(run.notes.rooms == std::vector<int>{5, 1});
  const auto& seen = run.notes.seen;
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].step == 0);
  CHECK(seen[0].rows == Tokens{0});
  CHECK(seen[0].frontier == Tokens{0});
  CHECK(seen[0].next == Tokens{1});
  CHECK(seen[0].text == Tokens{1});
  CHECK(seen[0].proposals == 0);
  CHECK(seen[1].step == 1);
  CHECK(seen[1].rows == Tokens{1, 2, 3, 4, 5, 7});
  CHECK(seen[1].frontier == Tokens{1});
  CHECK(seen[1].next == Tokens{8});  // the bonus after three accepted drafts
  CHECK(seen[1].text == Tokens{3, 5, 7, 8});
  CHECK(seen[1].proposals == 3);
  // One level more: 9 wrong, 10 right, 11 the bonus, the seventh token.
  CHECK(seen[2].rows == Tokens{8, 9, 10});
  CHECK(seen[2].frontier == Tokens{8});
  CHECK(seen[2].next.empty());
  CHECK(seen[2].text.empty());
  CHECK(seen[2].proposals == 1);
}

TEST_CASE(
    "step view: withdrawn drafts are marked so and have no row; a step's figures count what was sent") {
  Watched run(7);
  run.session->step();
  run.session->advance();
  const TokenTree& tree = run.session->tree();
  CHECK(tree[NodeId(6)].status == NodeStatus::kWithdrawn);
  for (const int sent : {2, 3, 4, 5, 7}) CHECK(tree[NodeId(sent)].status == NodeStatus::kPending);
  run.session->run();
  CHECK(tree[NodeId(6)].status == NodeStatus::kWithdrawn);
  for (const int dead : {2, 4, 9}) CHECK(tree[NodeId(dead)].status == NodeStatus::kDead);
  const auto& steps = run.recorder.steps;
  const auto as_text = [](const capture::StepRow& row) {
    std::string text;
    for (const int figure :
         {row.step, row.forward_rows, row.drafted, row.accepted, row.emitted, row.frontier})
      text += std::to_string(figure) + " ";
    return text;
  };
  REQUIRE(steps.size() == 3);
  CHECK(as_text(steps[0]) == "0 3 0 0 1 1 ");
  CHECK(as_text(steps[1]) == "1 6 5 3 4 1 ");
  CHECK(as_text(steps[2]) == "2 3 2 1 2 0 ");
  const RunResult result = run.session->result();
  CHECK(result.accepted_histogram == std::vector<std::int64_t>{0, 1, 0, 1});
  CHECK(result.steps == 3);
  CHECK(result.target_forwards == 3);
  CHECK(result.emitted_tokens == 7);
  for (const auto& row : run.recorder.input_rows) CHECK(row.node != 6);
}

std::vector<std::string> memory_text(const MemoryRecorder& recorder) {
  std::vector<std::string> all;
  for (const auto& row : recorder.memory_rows)
    all.push_back(std::to_string(row.live) + "+" + std::to_string(row.garbage) + " greedy " +
                  std::to_string(row.greedy) + " batch " + std::to_string(row.batch_beam) +
                  " moved " + std::to_string(row.moved_bytes / 64));
  return all;
}

TEST_CASE("step view: memory rows of a drafting run are those worked out by hand, by policy") {
  // Step 1: the prompt and six rows, of which 2 and 4 die; step 2: three rows, then the run is
  // over.
  using Rows = std::vector<std::string>;
  const auto rows_under = [](const char* kv, int gc_every) {
    FakeOptions options{.eos_token_ids = {}};
    Watched run(20, options);
    RunConfig config;
    config.prompt_tokens = kPrompt;
    config.max_new_tokens = 10;
    config.settings = {{"kv", kv}, {"gc_every", gc_every}};
    MemoryRecorder recorder;
    Session session(run.model, run.tokenizer, run.method, config, recorder);
    session.run();
    return memory_text(recorder);
  };
  // Tokens: prefill 1, then 4, 4 and the last one. Steps 1 and 2 leave two wrong drafts each.
  CHECK(rows_under("recycle", 9) ==
        Rows{"3+0 greedy 3 batch 3 moved 0", "7+0 greedy 7 batch 7 moved 0",
             "11+0 greedy 11 batch 11 moved 0", "3+0 greedy 12 batch 12 moved 0"});
  CHECK(rows_under("keep", 9) ==
        Rows{"3+0 greedy 3 batch 3 moved 0", "7+2 greedy 7 batch 7 moved 0",
             "11+4 greedy 11 batch 11 moved 0", "3+13 greedy 12 batch 12 moved 0"});
  // Slots 3 5 7 8 held step 1's text (4 and 6 were wrong), 9 11 13 14 step 2's: 7 of them move up.
  CHECK(rows_under("compact", 2) ==
        Rows{"3+0 greedy 3 batch 3 moved 0", "7+2 greedy 7 batch 7 moved 0",
             "11+0 greedy 11 batch 11 moved 7", "3+9 greedy 12 batch 12 moved 0"});
}

TEST_CASE("memory rows of a beam search: batch beam and greedy beside what is held") {
  Rig rig({.eos_token_ids = {}});
  rig.start("batch_beam", {{"num_beams", 2}}, kPrompt, 3).run();
  CHECK(memory_text(rig.recorder) == std::vector<std::string>{"6+0 greedy 3 batch 6 moved 3",
                                                              "8+0 greedy 4 batch 8 moved 8",
                                                              "0+0 greedy 5 batch 10 moved 0"});
}

TEST_CASE(
    "step view: a branch begins with the path to the node that was asked for, then the chosen token") {
  for (const char* method : {"greedy", "prompt_lookup", "beam", "batch_beam"}) {
    CAPTURE(method);
    Rig rig({.eos_boost = -9});
    Session& session = rig.start(method, {}, kPrompt, 8);
    session.run();
    const TokenTree& old = session.tree();
    for (std::int32_t at = 0; at < old.size(); ++at) {
      const NodeId node(at);
      if (old[node].depth > 5) continue;
      MemoryRecorder recorder;
      auto branch = Session::branch(session, node, 17, recorder);
      const TokenTree& tree = branch->tree();
      const NodeId forced(old[node].depth + 1);  // before anything runs: the path alone
      CHECK(tree.size() == forced.value + 1);
      Tokens expected = text_to(old, node);
      expected.push_back(17);
      CHECK(text_to(tree, forced) == expected);
      CHECK(tree[forced].source == capture::Source::kForced);
      CHECK(std::isnan(tree[forced].logprob));
      const std::vector<NodeId> path = tree.path_to(forced), from = old.path_to(node);
      for (std::size_t i = 0; i < from.size(); ++i) {
        CHECK(tree[path[i]].source == old[from[i]].source);
        CHECK((tree[path[i]].logprob == old[from[i]].logprob || std::isnan(old[from[i]].logprob)));
      }
      branch->step();
      // The row before the forced token says how probable it was: exactly this value.
      const auto row = rig.model.logits_of(text_to(old, node));
      CHECK(tree[forced].logprob == row[17] - kernels::log_sum_exp(row));
      CHECK(tree[forced].score == tree[tree[forced].parent].score + tree[forced].logprob);
      CHECK(rig.model.forwards > 0);
      // Its forward brings back prompt and path, in order, each in its own slot.
      const auto& steps = recorder.steps;
      REQUIRE(steps.size() == 1);
      CHECK(steps[0].forward_rows == 3 + forced.value);
      REQUIRE(recorder.input_rows.size() == static_cast<std::size_t>(3 + forced.value));
      for (std::int32_t i = 0; i < 3 + forced.value; ++i) {
        const auto& input = recorder.input_rows[static_cast<std::size_t>(i)];
        CHECK(input.node == (i < 3 ? prompt_occupant(i) : i - 2));
        CHECK(input.position == i);
        CHECK(input.step == 0);
      }
      CHECK(recorder.memory_rows.at(0).greedy == 3 + forced.value);
      branch->run();
      for (const auto& sequence : branch->result().sequences) {
        CHECK(std::ranges::equal(std::span(sequence.tokens).first(expected.size() - 3),
                                 std::span(expected).subspan(3)));
        CHECK(sequence.tokens.size() == 8);
      }
    }
  }
}

TEST_CASE("step view: a branch may be taken right up to the last token but one") {
  Rig rig({.eos_boost = -9});
  Session& session = rig.start("greedy", {}, kPrompt, 4);
  session.run();
  MemoryRecorder recorder;
  auto branch = Session::branch(session, NodeId(2), 9, recorder);  // the third of four
  branch->run();
  CHECK(branch->result().sequences.at(0).tokens.size() == 4);
  CHECK_THROWS(Session::branch(session, NodeId(3), 9, recorder));
}

TEST_CASE("step view: with a window over all layers, greedy memory is what a row may still see") {
  FakeOptions options{.sliding_window = 4, .all_layers_slide = true, .eos_token_ids = {}};
  Rig rig(options);
  rig.start("greedy", {}, kPrompt, 6).run();
  std::vector<std::int32_t> live, greedy;
  for (const auto& row : rig.recorder.memory_rows) {
    live.push_back(row.live);
    greedy.push_back(row.greedy);
  }
  live.pop_back(), greedy.pop_back();  // the run is over: nothing is held
  CHECK(live == Tokens{3, 3, 3, 3, 3});
  CHECK(greedy == live);
}

TEST_CASE(
    "step view: the end of a text is finished, what lies above it is dead once the run is over") {
  Rig rig({.eos_token_ids = {}});
  rig.start("greedy", {}, kPrompt, 3).run();
  const TokenTree& tree = rig.session->tree();
  REQUIRE(tree.size() == 4);
  CHECK(tree[NodeId(3)].status == NodeStatus::kFinished);
  CHECK(tree[NodeId(2)].status == NodeStatus::kDead);
  CHECK(tree[NodeId(1)].status == NodeStatus::kDead);
}

}  // namespace
}  // namespace triescope::test::test_step_view
