// EAGLE-2's and EAGLE-3's dynamic tree, and EAGLE's static one, over heads made by hand: which drafts
// are sent, which withdrawn, in which order, and the states that every row of the head reads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/base/count_up.h"
#include "core/kernels/row_ops.h"
#include "core/methods/registry.h"
#include "core/tree/slot_store.h"
#include "tests/support/fake_head.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_dynamic_tree {
namespace {

using formats::HeadKind;
using nlohmann::json;

const Tokens kPrompt = {3, 1, 2, 1, 0};

// A session up to the drafts of step 1.
struct Drafted {
  Drafted(const std::string& method, HeadKind kind, json settings, int vocab,
          FakeHead::LogitsOf logits, Tokens prompt = kPrompt, int max_new_tokens = 20)
      : rig(FakeOptions{.vocab_size = vocab, .eos_token_ids = {}}) {
    auto layers = std::make_unique<FakeHead>(vocab, 4096, std::move(logits));
    head = layers.get();
    rig.draft_head = eagle_head(kind, std::move(layers));
    rig.start(method, std::move(settings), std::move(prompt), max_new_tokens);
    rig.session->step();
    rig.session->advance();
  }
  const TokenTree& tree() const { return rig.session->tree(); }
  // Tokens below the pending node of every draft with that status, in the order they were hung.
  std::vector<Tokens> drafts(NodeStatus status) const {
    std::vector<Tokens> paths;
    for (std::int32_t id = 2; id < tree().size(); ++id) {
      if (tree()[NodeId(id)].status != status) continue;
      CHECK(tree()[NodeId(id)].source == capture::Source::kDraft);
      CHECK(tree()[NodeId(id)].q == 1);
      Tokens path;
      for (const TokenId token : tree().tokens_to(NodeId(id))) path.push_back(token.value);
      paths.emplace_back(path.begin() + 1, path.end());
    }
    return paths;
  }
  Rig rig;
  FakeHead* head = nullptr;
};

// Probabilities by the drafts above (the text has kPrompt.size() pairs).
std::vector<float> by_hand(const Pairs& seen) {
  const std::size_t drafted = seen.size() - kPrompt.size();
  if (drafted == 0) return log_row({.5, .3, .15, .05});
  if (drafted == 1 && seen.back().token == 0) return log_row({.7, .2, .06, .04});
  if (drafted == 1 && seen.back().token == 1) return log_row({.02, .05, .9, .03});
  return log_row({.1, .2, .3, .4});
}

TEST_CASE(
    "dynamic tree: a dynamic tree worked out by hand: expanded by level, reranked, the rest withdrawn") {
  Drafted run("eagle2", HeadKind::kEagle,
              {{"draft_top_k", 2}, {"draft_levels", 2}, {"draft_tokens", 3}}, 4, by_hand);
  // 0 (.5), 1 (.3); below them 0 0 (.35), 0 1 (.1), 1 2 (.27), 1 1 (.015).
  CHECK(run.drafts(NodeStatus::kPending) == std::vector<Tokens>{{0}, {1}, {0, 0}});
  CHECK(run.drafts(NodeStatus::kWithdrawn) == std::vector<Tokens>{{0, 1}, {1, 2}, {1, 1}});
  CHECK(run.head->forwards == 2);  // the text, then level 1
  // One level less: what is left is sent, of the level's two.
  Drafted flat("eagle2", HeadKind::kEagle,
               {{"draft_top_k", 2}, {"draft_levels", 1}, {"draft_tokens", 3}}, 4, by_hand);
  CHECK(flat.drafts(NodeStatus::kPending) == std::vector<Tokens>{{0}, {1}});
  CHECK(flat.drafts(NodeStatus::kWithdrawn).empty());
  // A third level: 1 2 (.27) and 0 0 (.35) go on, .4 and .3 of them, less than three are.
  Drafted deep("eagle2", HeadKind::kEagle,
               {{"draft_top_k", 2}, {"draft_levels", 3}, {"draft_tokens", 4}}, 4, by_hand);
  CHECK(deep.drafts(NodeStatus::kPending) == std::vector<Tokens>{{0}, {1}, {0, 0}, {1, 2}});
  CHECK(deep.drafts(NodeStatus::kWithdrawn) ==
        std::vector<Tokens>{{0, 1}, {1, 1}, {0, 0, 3}, {0, 0, 2}, {1, 2, 3}, {1, 2, 2}});
}

TEST_CASE("dynamic tree: of drafts with one score the one proposed first is sent") {
  const auto even = [](const Pairs&) { return std::vector<float>(4, 0.0f); };
  Drafted run("eagle2", HeadKind::kEagle,
              {{"draft_top_k", 3}, {"draft_levels", 2}, {"draft_tokens", 5}}, 4, even);
  CHECK(run.drafts(NodeStatus::kPending) == std::vector<Tokens>{{0}, {1}, {2}, {0, 0}, {0, 1}});
}

TEST_CASE(
    "dynamic tree: a sure head drafts a chain, and a child never outranks its parent by rounding") {
  const auto sure = [](const Pairs& seen) {
    std::vector<float> row(6, -40.0f);
    row[static_cast<std::size_t>(seen.size()) % 6] = 30;
    return row;
  };
  Drafted run("eagle2", HeadKind::kEagle,
              {{"draft_top_k", 4}, {"draft_levels", 6}, {"draft_tokens", 6}}, 6, sure);
  CHECK(run.drafts(NodeStatus::kPending) ==
        std::vector<Tokens>{
            {5}, {5, 0}, {5, 0, 1}, {5, 0, 1, 2}, {5, 0, 1, 2, 3}, {5, 0, 1, 2, 3, 4}});
}

// The published algorithm by the book, nothing left out: what is sent, in order; `pool`: all proposals.
std::vector<Tokens> by_the_book(const FakeHead::LogitsOf& logits, const Pairs& text,
                                std::size_t top_k, std::size_t levels, std::size_t tokens,
                                std::vector<Tokens>& pool_paths) {
  struct Entry {
    Tokens path;
    Pairs pairs;
    float score;
  };
  std::vector<Entry> pool, parents = {{{}, text, 0}};
  for (std::size_t level = 0; level < levels; ++level) {
    std::vector<Entry> made;
    for (const Entry& parent : parents) {
      const std::vector<float> row = logits(parent.pairs);
      const float sum = kernels::log_sum_exp(row);
      for (const auto& [logit, token] : kernels::top_k(row, top_k)) {
        Entry child = parent;
        child.path.push_back(token);
        child.pairs.push_back({token, FakeHead::state_of(parent.pairs),
                               static_cast<std::int32_t>(parent.pairs.size())});
        child.score = parent.score + std::min(logit - sum, 0.0f);
        made.push_back(child);
      }
    }
    pool.insert(pool.end(), made.begin(), made.end());
    std::ranges::stable_sort(made, std::ranges::greater(), &Entry::score);
    if (made.size() > top_k) made.resize(top_k);
    parents = made;
  }
  std::vector<std::size_t> order = count_up<std::size_t>(pool.size());
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return pool[i].score; });
  order.resize(std::min(tokens, order.size()));
  for (const Entry& entry : pool) pool_paths.push_back(entry.path);
  std::ranges::sort(order);
  std::vector<Tokens> sent;
  for (const std::size_t i : order) sent.push_back(pool[i].path);
  return sent;
}

TEST_CASE(
    "dynamic tree: the drafts sent are those of the published algorithm, though fewer nodes are expanded") {
  int forwards = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto logits = [seed](const Pairs& seen) {
      Rng rng(hash_of(seen) ^ (seed * 77));
      std::vector<float> row;
      for (int i = 0; i < 12; ++i)
        row.push_back(static_cast<float>(rng.uniform() * (seed % 5 + 1)));
      if (seed % 3 == 0)  // ties
        for (float& x : row) x = std::floor(x);
      return row;
    };
    const std::size_t top_k = 2 + seed % 5, levels = 1 + seed % 6, tokens = 1 + seed % 23;
    CAPTURE(seed);
    for (const char* method : {"eagle2", "eagle3"}) {
      const bool third = std::string(method) == "eagle3";
      Drafted run(method, third ? HeadKind::kEagle3 : HeadKind::kEagle,
                  {{"draft_top_k", top_k}, {"draft_levels", levels}, {"draft_tokens", tokens}}, 12,
                  logits);
      // The text's pairs as the head saw them last: the pending node's row.
      const auto text = std::ranges::find_if(
          run.head->seen, [](const Pairs& seen) { return seen.size() == kPrompt.size(); });
      REQUIRE(text != run.head->seen.end());
      std::vector<Tokens> pool;
      const auto expected = by_the_book(logits, *text, top_k, levels, tokens, pool);
      // Hung by level; the published order within a level goes by the parents' scores too.
      auto found = run.drafts(NodeStatus::kPending);
      CHECK(found == expected);
      for (const Tokens& path : run.drafts(NodeStatus::kWithdrawn)) {
        CHECK(std::ranges::find(pool, path) != pool.end());
        CHECK(std::ranges::find(expected, path) == expected.end());
      }
      forwards += run.head->forwards;
    }
  }
  CHECK(forwards > 80);
}

// Every row that the head ran pairs each token with a state: the target's for the text, then its own.
void check_states(const FakeHead& head, const FakeModel& model, std::int32_t first_token,
                  const std::vector<std::int32_t>& layers, std::size_t& text_rows,
                  std::size_t& draft_rows) {
  for (const Pairs& seen : head.seen) {
    Tokens text = {first_token};
    bool drafted = false;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      std::vector<float> of_target;
      for (const std::int32_t layer : layers)
        for (const float x : model.feature_of(text, layer)) of_target.push_back(x);
      drafted = drafted || seen[i].state != of_target;
      if (drafted) REQUIRE(seen[i].state == FakeHead::state_of(std::span(seen).first(i)));
      text.push_back(seen[i].token);
    }
    ++(drafted ? draft_rows : text_rows);
  }
}

TEST_CASE(
    "dynamic tree: the text's rows read the target's states, drafts their parent's; accepted drafts run again") {
  for (const char* method : {"eagle", "eagle2", "eagle3"}) {
    for (const Tokens& prompt : {Tokens{7}, Tokens{5, 6, 7, 3, 5, 6, 4, 7, 3}}) {
      CAPTURE(method);
      CAPTURE(prompt.size());
      const bool third = std::string(method) == "eagle3";
      FakeOptions options{.vocab_size = 14, .eos_token_ids = {}, .chain = {5, 6, 7, 8, 9, 5}};
      Rig rig(options);
      rig.draft_head =
          fake_head(third ? HeadKind::kEagle3 : HeadKind::kEagle, 14, 4096, 9, options.chain);
      auto* head = dynamic_cast<FakeHead*>(rig.draft_head->layers.get());
      rig.start(method, {}, prompt, 40).run();
      const RunResult result = rig.session->result();
      CHECK(result.tokens_per_forward > 1.5);  // drafts come true
      std::size_t text_rows = 0, draft_rows = 0;
      check_states(
          *head, rig.model, prompt[0],
          third ? std::vector<std::int32_t>{1, 2, 4} : std::vector<std::int32_t>{kFinalNorm},
          text_rows, draft_rows);
      // Every position of the text once, up to the last pending node.
      const auto& generated = result.sequences[0].tokens;
      CHECK(text_rows >= prompt.size() - 1 + generated.size() - 10);
      CHECK(text_rows <= prompt.size() - 1 + generated.size());
      CHECK(draft_rows > 0);
      CHECK(result.drafter_cost.forward_rows == static_cast<std::int64_t>(text_rows + draft_rows));
      // Recorded as the head's own, at positions that count from its text's begin.
      bool recorded = false;
      for (const auto& row : rig.recorder.input_rows) {
        CHECK(row.whose != capture::Whose::kDraft);
        if (row.whose != capture::Whose::kHead) continue;
        recorded = true;
        if (row.node > 0)
          CHECK(row.position == rig.session->tree().position(NodeId(row.node)) - 1);
        else
          CHECK(row.node == prompt_occupant(row.position + 1));
      }
      CHECK(recorded);
    }
  }
}

TEST_CASE(
    "dynamic tree: EAGLE's static tree takes the ranks of each parent's own row, level by level") {
  const auto by_last = [](const Pairs& seen) {
    std::vector<float> row(8, 0.0f);
    for (std::size_t v = 0; v < 8; ++v)
      row[v] = -static_cast<float>((v + 8 - static_cast<std::size_t>(seen.back().token) % 8) % 8);
    return row;  // best: the last token itself, then the next ids
  };
  Drafted run("eagle", HeadKind::kEagle, {{"tree", "0;2;0,1;2,0;2,3;0,1,1"}}, 8, by_last);
  const std::int32_t x = run.tree()[NodeId(1)].token.value;
  const auto id = [&](std::int32_t add) { return (x + add) % 8; };
  CHECK(
      run.drafts(NodeStatus::kPending) ==
      std::vector<Tokens>{
          {id(0)}, {id(2)}, {id(0), id(1)}, {id(2), id(2)}, {id(2), id(5)}, {id(0), id(1), id(2)}});
  CHECK(run.head->forwards == 3);  // the text, level 1's two parents, level 2's one
  CHECK(run.head->seen.size() == kPrompt.size() + 2 + 1);
}

TEST_CASE(
    "dynamic tree: EAGLE-3 reads the layers that the setting names, as many as the head has") {
  const auto even = [](const Pairs&) { return std::vector<float>(4, 0.0f); };
  Drafted run("eagle3", HeadKind::kEagle3, {{"layers", {0, 3, 4}}}, 4, even);
  const Pair& first = run.head->seen.front().front();
  REQUIRE(first.state.size() == 6);
  CHECK(first.state[1] == 0);
  CHECK(first.state[3] == 3);
  CHECK(first.state[5] == 4);
  try {
    Drafted wrong("eagle3", HeadKind::kEagle3, {{"layers", {0, 3}}}, 4, even);
    FAIL("two layers were taken");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "layers: expected 3 as the head reads (1,2,4 by its file); found 2");
  }
}

TEST_CASE(
    "dynamic tree: a head whose best draft is seldom right warns, and says which layers to try") {
  const auto never = [](const Pairs& seen) {
    std::vector<float> row(32, 0.0f);
    row[static_cast<std::size_t>(seen.back().token + 1) % 32] = 9;
    return row;
  };
  for (const int tokens : {20, 80}) {
    Rig rig(FakeOptions{.eos_token_ids = {}});
    rig.draft_head = eagle_head(HeadKind::kEagle3, std::make_unique<FakeHead>(32, 4096, never));
    rig.start("eagle3", {{"draft_levels", 2}, {"draft_tokens", 2}}, kPrompt, tokens).run();
    const std::string warning = rig.session->result().warning;
    if (tokens == 20) CHECK(warning.empty());
    if (tokens == 80) CHECK(warning.ends_with("try --set layers=2,3,5 or 0,1,3"));
  }
  Rig right(FakeOptions{.eos_token_ids = {}, .chain = {1, 2, 3, 1}});
  right.draft_head =
      eagle_head(HeadKind::kEagle, std::make_unique<FakeHead>(32, 4096, [](const Pairs& seen) {
                   std::vector<float> row(32, 0.0f);
                   row[static_cast<std::size_t>(seen.back().token % 3) + 1] = 9;
                   return row;
                 }));
  right.start("eagle", {}, {1}, 200).run();
  CHECK(right.session->result().warning.empty());
}

TEST_CASE(
    "dynamic tree: the head's best tokens are recorded as the head's, those that were proposed marked") {
  Drafted run("eagle2", HeadKind::kEagle,
              {{"draft_top_k", 2}, {"draft_levels", 2}, {"draft_tokens", 3}, {"candidates", 3}}, 4,
              by_hand);
  std::vector<std::string> rows;
  for (const auto& row : run.rig.recorder.candidate_rows)
    if (row.whose == capture::Whose::kHead)
      rows.push_back(std::to_string(row.node) + " " + std::to_string(row.rank) + " " +
                     std::to_string(row.token) + (row.chosen ? " chosen" : ""));
  CHECK(rows == std::vector<std::string>{"1 0 0 chosen", "1 1 1 chosen", "1 2 2", "2 0 0 chosen",
                                         "2 1 1 chosen", "2 2 2", "3 0 2 chosen", "3 1 1 chosen",
                                         "3 2 3"});
}

}  // namespace
}  // namespace triescope::test::test_dynamic_tree
