#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/decode/liveness.h"
#include "core/tree/token_tree.h"

namespace triescope {
namespace {

constexpr auto kSource = capture::Source::kBeam;

TEST_CASE("token tree: siblings share a position, children come after their parent's") {
  TokenTree tree(10);
  const NodeId a = tree.add(TokenTree::root(), TokenId(1), kSource, -1);
  const NodeId b = tree.add(TokenTree::root(), TokenId(2), kSource, -2);
  const NodeId c = tree.add(a, TokenId(3), kSource, -0.5f);
  CHECK(tree.position(a) == 10);
  CHECK(tree.position(b) == 10);
  CHECK(tree.position(c) == 11);
  CHECK(tree[c].depth == 2);
  CHECK(tree[c].score == -1.5f);
  CHECK(tree.size() == 4);
}

TEST_CASE("token tree: paths run from the root's child to the node") {
  TokenTree tree(1);
  const NodeId a = tree.add(TokenTree::root(), TokenId(7), kSource, 0);
  const NodeId b = tree.add(a, TokenId(8), kSource, 0);
  const NodeId c = tree.add(b, TokenId(9), kSource, 0);
  CHECK(tree.tokens_to(c) == std::vector<TokenId>{TokenId(7), TokenId(8), TokenId(9)});
  CHECK(tree.path_to(c) == std::vector<NodeId>{a, b, c});
  CHECK(tree.tokens_to(TokenTree::root()).empty());
  CHECK(tree.is_ancestor_or_self(TokenTree::root(), c));
  CHECK(tree.is_ancestor_or_self(c, c));
  CHECK(tree.is_ancestor_or_self(a, c));
  CHECK_FALSE(tree.is_ancestor_or_self(c, a));
}

TEST_CASE("token tree: child() finds the first living child with a token") {
  TokenTree tree(1);
  const NodeId a = tree.add(TokenTree::root(), TokenId(7), kSource, 0);
  const NodeId twin = tree.add(TokenTree::root(), TokenId(7), kSource, 0);
  CHECK(tree.child(TokenTree::root(), TokenId(7)) == a);
  tree[a].status = NodeStatus::kDead;
  CHECK(tree.child(TokenTree::root(), TokenId(7)) == twin);
  CHECK_FALSE(tree.child(TokenTree::root(), TokenId(8)).valid());
  CHECK(tree[tree[TokenTree::root()].first_child].next_sibling == twin);
}

TEST_CASE("token tree: an unknown log-prob makes the score unknown") {
  TokenTree tree(1);
  const NodeId draft = tree.add(TokenTree::root(), TokenId(7), kSource, std::nanf(""));
  CHECK(std::isnan(tree[draft].score));
  CHECK(std::isnan(tree[tree.add(draft, TokenId(8), kSource, -1)].score));
}

TEST_CASE("token tree: a parent that is not there is refused") {
  TokenTree tree(1);
  CHECK_THROWS_AS(tree.add(NodeId(1), TokenId(7), kSource, 0), Error);
  CHECK_THROWS_AS(tree.add(NodeId(), TokenId(7), kSource, 0), Error);
}

TEST_CASE("liveness: a node dies when the last path through it does, children first") {
  TokenTree tree(1);
  Liveness liveness;
  const NodeId a = tree.add(TokenTree::root(), TokenId(1), kSource, 0);
  const NodeId first[] = {a};
  CHECK(liveness.settle(tree, {}, first).empty());
  const NodeId b = tree.add(a, TokenId(2), kSource, 0), c = tree.add(a, TokenId(3), kSource, 0);
  const NodeId second[] = {b, c};
  CHECK(liveness.settle(tree, first, second).empty());
  CHECK(tree[a].status == NodeStatus::kLive);
  const NodeId d = tree.add(b, TokenId(4), kSource, 0);
  const NodeId third[] = {d};
  CHECK(liveness.settle(tree, second, third) == std::vector<NodeId>{c});
  CHECK(tree[c].status == NodeStatus::kDead);
  CHECK(liveness.settle(tree, third, {}) == std::vector<NodeId>{d, b, a});
}

TEST_CASE("liveness: drafts that were not taken die, the end of a text keeps its status") {
  TokenTree tree(1);
  Liveness liveness;
  const NodeId a = tree.add(TokenTree::root(), TokenId(1), kSource, 0);
  const NodeId frontier[] = {a};
  liveness.settle(tree, {}, frontier);
  const NodeId good = tree.add(a, TokenId(2), kSource, 0),
               eos = tree.add(good, TokenId(0), kSource, 0);
  const NodeId after = tree.add(eos, TokenId(5), kSource, 0),
               wrong = tree.add(a, TokenId(6), kSource, 0);
  const NodeId drafts[] = {good, eos, after, wrong};
  liveness.hang(tree, drafts);
  const NodeId rows[] = {a, good, eos, after, wrong};
  tree[eos].status = NodeStatus::kFinished;
  const auto dead = liveness.settle(tree, rows, {});
  CHECK(dead.size() == 5);  // each once
  CHECK(tree[eos].status == NodeStatus::kFinished);
  CHECK(tree[wrong].status == NodeStatus::kDead);
  for (std::size_t i = 0; i < dead.size(); ++i)
    for (std::size_t k = i + 1; k < dead.size(); ++k) CHECK_FALSE(tree[dead[k]].parent == dead[i]);
}

}  // namespace
}  // namespace triescope
