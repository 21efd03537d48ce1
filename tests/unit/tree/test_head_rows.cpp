// A runner whose rows read a hidden state, over a text that lacks the prompt's first token: which state a
// row gets, at which position it lies, and which rows are run again.
#include <doctest/doctest.h>

#include "core/tree/tree_runner.h"
#include "tests/support/fake_head.h"

namespace triescope::test::test_head_rows {
namespace {

using Tokens = std::vector<std::int32_t>;

struct Bench {
  explicit Bench(Tokens whole_prompt)
      : prompt(std::move(whole_prompt)),
        head(20, 600,
             [](const Pairs& seen) {
               return std::vector<float>(20, static_cast<float>(hash_of(seen) >> 50));
             }),
        runner(head, std::span(prompt).subspan(1), {}, /*record=*/true),
        tree(static_cast<std::int32_t>(prompt.size())) {
    // The state of a row says its node (-1: the prompt's) and its position.
    runner.read_inputs_from([&](NodeId node, std::int32_t position) {
      state = {node.valid() ? static_cast<float>(node.value) : -1.0f, static_cast<float>(position)};
      return std::span<const float>(state);
    });
    runner.read_features({1});
  }
  NodeId hang(NodeId parent, std::int32_t token) {
    return tree.hang(parent, TokenId(token), capture::Source::kDraft, 0).node;
  }
  // What the row of a node must see.
  Pairs pairs_to(NodeId node) const {
    Pairs pairs;
    for (std::size_t i = 1; i < prompt.size(); ++i)
      pairs.push_back(
          {prompt[i], {-1, static_cast<float>(i - 1)}, static_cast<std::int32_t>(i - 1)});
    for (const NodeId at : tree.path_to(node)) {
      const auto position = static_cast<std::int32_t>(pairs.size());
      pairs.push_back({tree[at].token.value,
                       {static_cast<float>(at.value), static_cast<float>(position)},
                       position});
    }
    return pairs;
  }

  Tokens prompt;
  FakeHead head;
  TreeRunner runner;
  TokenTree tree;
  std::vector<float> state;
};

TEST_CASE(
    "head rows: rows get the state of their node or position, positions count from the runner's own prompt") {
  Tokens longer(300);  // prefill goes in pieces
  for (std::size_t i = 0; i < longer.size(); ++i) longer[i] = static_cast<std::int32_t>(i % 20);
  for (const Tokens& prompt : {Tokens{4}, Tokens{4, 9}, Tokens{3, 1, 4, 1, 5}, longer}) {
    CAPTURE(prompt.size());
    Bench bench(prompt);
    const NodeId a = bench.hang(TokenTree::root(), 7), b = bench.hang(a, 8), c = bench.hang(b, 9);
    CHECK(bench.runner.position(bench.tree, a) == static_cast<std::int32_t>(prompt.size()) - 1);
    CHECK(bench.runner.follows(bench.tree, a));
    bench.runner.advance(bench.tree, b, {});
    REQUIRE(bench.head.seen.size() == prompt.size() - 1 + 2);
    CHECK(bench.head.seen.back() == bench.pairs_to(b));
    CHECK(bench.head.seen[prompt.size() - 1] == bench.pairs_to(a));
    const NodeId other = bench.hang(b, 3);
    const NodeId both[] = {c, other};
    bench.runner.forward(bench.tree, both, {});
    CHECK(bench.head.seen[prompt.size() + 1] == bench.pairs_to(c));
    CHECK(bench.head.seen[prompt.size() + 2] == bench.pairs_to(other));
    CHECK(
        std::ranges::equal(bench.runner.feature(1, 1), FakeHead::state_of(bench.pairs_to(other))));
    // Inputs are recorded under the prompt's own tokens: the first is not run.
    const auto inputs = bench.runner.take_inputs();
    REQUIRE(inputs.size() == 2);
    for (std::size_t i = 0; i + 1 < prompt.size(); ++i) {
      CHECK(inputs[0][i].node == prompt_occupant(static_cast<std::int32_t>(i) + 1));
      CHECK(inputs[0][i].position == static_cast<std::int32_t>(i));
      CHECK(bench.runner.store().occupant(inputs[0][i].slot) == inputs[0][i].node);
    }
    CHECK(inputs[1][1].node == other.value);
  }
}

TEST_CASE("head rows: advance runs nodes below the kept depth again, and no other") {
  Bench bench({3, 1, 4});
  const NodeId a = bench.hang(TokenTree::root(), 7), b = bench.hang(a, 8), c = bench.hang(b, 9),
               d = bench.hang(c, 2);
  bench.runner.advance(bench.tree, a, {});
  for (const NodeId draft : {b, c}) bench.runner.forward(bench.tree, {&draft, 1}, {});
  CHECK(bench.runner.figures().rows == 2 + 1 + 2);
  // b and c became text: their rows came from drafts.
  bench.runner.advance(bench.tree, d, {}, bench.tree[a].depth);
  CHECK(bench.runner.figures().rows == 5 + 3);
  CHECK(std::ranges::equal(bench.runner.rows(), std::vector<NodeId>{d}));
  CHECK(bench.head.seen.back() == bench.pairs_to(d));
  CHECK(bench.runner.store().live() == 2 + 4);
  // Without a kept depth what has KV stays.
  const NodeId e = bench.hang(d, 5);
  bench.runner.advance(bench.tree, e, {});
  CHECK(bench.runner.figures().rows == 8 + 1);
}

}  // namespace
}  // namespace triescope::test::test_head_rows
