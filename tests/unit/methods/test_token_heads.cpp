// Medusa and Hydra over heads made by hand: which state they read, which tokens, what is drafted.
#include <doctest/doctest.h>

#include "core/methods/registry.h"
#include "tests/support/fake_head.h"
#include "tests/support/refusal.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_token_heads {
namespace {

using formats::HeadKind;
using nlohmann::json;

std::vector<Tokens> drafts_of(const TokenTree& tree, NodeId pending) {
  std::vector<Tokens> paths;
  for (std::int32_t id = pending.value + 1; id < tree.size(); ++id) {
    if (tree[NodeId(id)].status != NodeStatus::kPending) continue;
    CHECK(tree[NodeId(id)].source == capture::Source::kDraft);
    Tokens path;
    for (NodeId at(id); at != pending; at = tree[at].parent)
      path.insert(path.begin(), tree[at].token.value);
    paths.push_back(path);
  }
  return paths;
}

// Best first: BASE, BASE + 1, ..., around the vocabulary of 16.
std::vector<float> counting_up(std::int32_t base) {
  std::vector<float> row(16);
  for (std::int32_t i = 0; i < 16; ++i)
    row[static_cast<std::size_t>((base + i) % 16)] = -static_cast<float>(i);
  return row;
}

TEST_CASE(
    "Medusa: head i gives level i, the same tokens below every parent, from the state before the pending token") {
  Rig rig(FakeOptions{.vocab_size = 16, .eos_token_ids = {}});
  auto heads = std::make_unique<FakeTokenHeads>(
      3, false, [](int head, std::span<const float>, std::span<const std::int32_t>) {
        return counting_up(4 * head);
      });
  auto* fake = heads.get();
  rig.draft_head = token_head(HeadKind::kMedusa, std::move(heads));
  const Tokens prompt = {5, 6, 7};
  rig.start("medusa", {{"tree", "0;1;0,0;0,2;1,1;0,2,0"}}, prompt, 30);
  rig.session->step();
  const std::vector<Tokens> expected = {{0}, {1}, {0, 4}, {0, 6}, {1, 5}, {0, 6, 8}};
  Tokens text = prompt;
  for (int step = 1; step < 6; ++step) {
    CAPTURE(step);
    // The state of the token before the pending one: the last that the target has computed.
    NodeId pending(-1);
    for (std::int32_t id = 1; id < rig.session->tree().size(); ++id)
      if (rig.session->tree()[NodeId(id)].status == NodeStatus::kPending) pending = NodeId(id);
    REQUIRE(pending.valid());
    text = prompt;
    for (const TokenId token : rig.session->tree().tokens_to(pending)) text.push_back(token.value);
    text.pop_back();
    fake->states.clear();
    rig.session->advance();
    CHECK(drafts_of(rig.session->tree(), pending) == expected);
    REQUIRE(fake->states.size() == 3);  // a call a level
    for (const auto& state : fake->states) CHECK(state == rig.model.feature_of(text, kFinalNorm));
    rig.session->step();
  }
  CHECK(rig.session->result().drafter_cost.forwards == 0);  // no model of its own
}

TEST_CASE("Medusa: the cap, an EOS and a small vocabulary cut the tree") {
  const auto run = [](FakeOptions options, int max_new_tokens, const char* tree) {
    auto rig = std::make_unique<Rig>(options);
    rig->draft_head =
        token_head(HeadKind::kMedusa,
                   std::make_unique<FakeTokenHeads>(
                       3, false, [n = options.vocab_size](int head, std::span<const float>, auto) {
                         std::vector<float> row = counting_up(2 * head + 2);
                         row.resize(static_cast<std::size_t>(n));
                         return row;
                       }));
    rig->start("medusa", {{"tree", tree}}, {5, 1}, max_new_tokens);
    rig->session->step();
    rig->session->advance();
    return drafts_of(rig->session->tree(), NodeId(1));
  };
  const char* tree = "0;0,0;0,0,0;1;1,0";
  const FakeOptions plain{.vocab_size = 16, .eos_token_ids = {}};
  // Hung level by level.
  CHECK(run(plain, 9, tree) == std::vector<Tokens>{{2}, {3}, {2, 4}, {3, 4}, {2, 4, 6}});
  // One of four tokens is the pending one, one the target's own after the drafts.
  CHECK(run(plain, 4, tree) == std::vector<Tokens>{{2}, {3}, {2, 4}, {3, 4}});
  CHECK(run(plain, 2, tree).empty());
  CHECK(run({.vocab_size = 16, .eos_token_ids = {2}, .eos_boost = -50}, 9, tree) ==
        std::vector<Tokens>{{2}, {3}, {3, 4}});
  CHECK(run({.vocab_size = 8, .eos_token_ids = {}}, 9, "0;7;9;9,0;7,0") ==
        std::vector<Tokens>{{2}, {1}, {1, 4}});
}

TEST_CASE(
    "Hydra: each head reads the known token and the drafts above; without a prefix layer, the target's state") {
  Rig rig(FakeOptions{.vocab_size = 16, .eos_token_ids = {}});
  std::vector<Tokens> read;
  rig.draft_head = token_head(
      HeadKind::kHydra,
      std::make_unique<FakeTokenHeads>(
          3, true, [&](int head, std::span<const float>, std::span<const std::int32_t> tokens) {
            CHECK(tokens.size() == static_cast<std::size_t>(head) + 1);
            read.emplace_back(tokens.begin(), tokens.end());
            return counting_up(tokens.back() + 1);
          }));
  rig.start("hydra", {{"tree", "0;1;0,0;1,0;1,2;1,2,0"}}, {5, 6, 7}, 30);
  rig.session->step();
  rig.session->advance();
  const std::int32_t x = rig.session->tree()[NodeId(1)].token.value;
  const auto id = [&](std::int32_t add) { return (x + add) % 16; };
  CHECK(read == std::vector<Tokens>{{x}, {x, id(1)}, {x, id(2)}, {x, id(2), id(5)}});
  CHECK(
      drafts_of(rig.session->tree(), NodeId(1)) ==
      std::vector<Tokens>{
          {id(1)}, {id(2)}, {id(1), id(2)}, {id(2), id(3)}, {id(2), id(5)}, {id(2), id(5), id(6)}});
}

TEST_CASE(
    "token heads: Hydra's prefix layer follows the text alone, and its output is the state that the heads read") {
  Rig rig(FakeOptions{.vocab_size = 16, .eos_token_ids = {}});
  auto heads = std::make_unique<FakeTokenHeads>(
      2, true, [](int, std::span<const float>, std::span<const std::int32_t> tokens) {
        return counting_up(tokens.back() + 1);
      });
  auto* tokens = heads.get();
  rig.draft_head = token_head(HeadKind::kHydra, std::move(heads));
  auto layers = std::make_unique<FakeHead>(16, 4096, [](const Pairs&) { return counting_up(0); });
  layers->final_norm = true;
  auto* prefix = layers.get();
  rig.draft_head->layers = std::move(layers);
  const Tokens prompt = {5, 6, 7};
  rig.start("hydra", {{"tree", "0;0,0"}}, prompt, 12).run();
  const auto generated = rig.session->result().sequences[0].tokens;
  Tokens text = prompt;
  text.insert(text.end(), generated.begin(), generated.end());
  // Row t: the token at t + 1 with the target's state at t; never a draft's.
  for (const Pairs& seen : prefix->seen) {
    for (std::size_t t = 0; t < seen.size(); ++t) {
      CHECK(seen[t].token == text[t + 1]);
      CHECK(seen[t].state == rig.model.feature_of(std::span(text).first(t + 1), kFinalNorm));
    }
  }
  for (const auto& state : tokens->states) {
    bool is_of_a_row = false;
    for (const Pairs& seen : prefix->seen)
      is_of_a_row = is_of_a_row || FakeHead::state_of(seen) == state;
    CHECK(is_of_a_row);
  }
  CHECK(prefix->seen.size() >= prompt.size() + generated.size() - 4);
}

TEST_CASE("token heads: the wrong head for a method is refused, naming the methods that take it") {
  const auto why = [](const char* method, HeadKind kind) {
    Rig rig;
    rig.draft_head = fake_head(kind, 32, 4096, 1);
    return refusal(ErrorCode::kInvalidArgument, [&] { rig.start(method, {}); });
  };
  CHECK(why("medusa", HeadKind::kEagle) ==
        "method medusa: expected a draft head of kind medusa; found eagle, which --method eagle or "
        "eagle2 takes");
  CHECK(
      why("eagle3", HeadKind::kHydra) ==
      "method eagle3: expected a draft head of kind eagle3; found hydra, which --method hydra takes");
  CHECK(why("eagle", HeadKind::kEagle3).ends_with("which --method eagle3 takes"));
  CHECK(why("eagle2", HeadKind::kMedusa).ends_with("which --method medusa takes"));
  Rig none;
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] { none.start("hydra", {}); }) ==
        "method hydra: expected a draft head; found none");
  Rig deep;
  deep.draft_head = fake_head(HeadKind::kMedusa, 32, 4096, 1);
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          deep.start("medusa", {{"tree", "0;0,0;0,0,0;0,0,0,0;0,0,0,0,0"}});
        }).ends_with("path 0,0,0,0,0, 5 levels deep: at most 4 fit the file's 4 heads"));
}

}  // namespace
}  // namespace triescope::test::test_token_heads
