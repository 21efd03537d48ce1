#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/tree/token_tree.h"

namespace triescope {
namespace {

constexpr auto kSource = capture::Source::kBeam;

TEST_CASE("token tree: siblings share a position, children come after their parent's") {
  TokenTree tree(10);
  const NodeId a = tree.hang(TokenTree::root(), TokenId(1), kSource, -1).node;
  const NodeId b = tree.hang(TokenTree::root(), TokenId(2), kSource, -2).node;
  const NodeId c = tree.hang(a, TokenId(3), kSource, -0.5f).node;
  CHECK(tree.position(a) == 10);
  CHECK(tree.position(b) == 10);
  CHECK(tree.position(c) == 11);
  CHECK(tree[c].depth == 2);
  CHECK(tree[c].score == -1.5f);
  CHECK(tree.size() == 4);
}

TEST_CASE("token tree: paths run from the root's child to the node") {
  TokenTree tree(1);
  const NodeId a = tree.hang(TokenTree::root(), TokenId(7), kSource, 0).node;
  const NodeId b = tree.hang(a, TokenId(8), kSource, 0).node;
  const NodeId c = tree.hang(b, TokenId(9), kSource, 0).node;
  CHECK(tree.tokens_to(c) == std::vector<TokenId>{TokenId(7), TokenId(8), TokenId(9)});
  CHECK(tree.path_to(c) == std::vector<NodeId>{a, b, c});
  CHECK(tree.tokens_to(TokenTree::root()).empty());
}

TEST_CASE("token tree: a path is one node: hang() finds what is there and leaves it as it was") {
  TokenTree tree(1);
  const Hung a = tree.hang(TokenTree::root(), TokenId(7), capture::Source::kDraft, -2, 0.25f);
  CHECK(a.is_new);
  const Hung again = tree.hang(TokenTree::root(), TokenId(7), kSource, -1, 0.5f);
  CHECK_FALSE(again.is_new);
  CHECK(again.node == a.node);
  CHECK(tree.size() == 2);
  CHECK(tree[a.node].source == capture::Source::kDraft);
  CHECK(tree[a.node].q == 0.25f);
  CHECK(tree[a.node].logprob == -2);
  CHECK(tree.child(TokenTree::root(), TokenId(7)) == a.node);
  CHECK_FALSE(tree.child(TokenTree::root(), TokenId(8)).valid());
}

TEST_CASE("token tree: a probe and a candidate with one token are two nodes") {
  TokenTree tree(1);
  const Hung probe = tree.hang_probe(TokenTree::root(), TokenId(7), capture::Source::kDraft);
  CHECK(probe.is_new);
  CHECK(tree[probe.node].is_probe());
  CHECK(std::isnan(tree[probe.node].logprob));
  CHECK_FALSE(tree.child(TokenTree::root(), TokenId(7)).valid());  // children are candidates
  const Hung candidate = tree.hang(TokenTree::root(), TokenId(7), kSource, -1);
  CHECK(candidate.is_new);
  CHECK_FALSE(candidate.node == probe.node);
  CHECK_FALSE(tree[candidate.node].is_probe());
  CHECK(tree.child(TokenTree::root(), TokenId(7)) == candidate.node);
  const Hung again = tree.hang_probe(TokenTree::root(), TokenId(7), capture::Source::kDraft);
  CHECK_FALSE(again.is_new);
  CHECK(again.node == probe.node);
  CHECK(tree.position(probe.node) == tree.position(candidate.node));
}

TEST_CASE("token tree: below a probe there are probes alone") {
  TokenTree tree(1);
  const NodeId probe = tree.hang_probe(TokenTree::root(), TokenId(7), capture::Source::kDraft).node;
  const NodeId below = tree.hang_probe(probe, TokenId(7), capture::Source::kDraft).node;
  CHECK(tree.tokens_to(below) == std::vector<TokenId>{TokenId(7), TokenId(7)});
  const std::string refusal =
      "token tree: expected a candidate's parent to be a candidate, found "
      "node 1 to be a probe, which never becomes text";
  CHECK_THROWS_WITH_AS(tree.hang(probe, TokenId(8), kSource, 0), refusal.c_str(), Error);
  CHECK_THROWS_WITH_AS(tree.add_copy(probe, TokenId(8), kSource, 0), refusal.c_str(), Error);
  CHECK(tree.size() == 3);
}

TEST_CASE("token tree: a dead child is history, a withdrawn one comes back") {
  TokenTree tree(1);
  const NodeId dead = tree.hang(TokenTree::root(), TokenId(7), kSource, 0).node;
  tree[dead].status = NodeStatus::kDead;
  CHECK_FALSE(tree.child(TokenTree::root(), TokenId(7)).valid());
  const Hung second = tree.hang(TokenTree::root(), TokenId(7), kSource, 0);
  CHECK(second.is_new);
  CHECK_FALSE(second.node == dead);
  CHECK(tree[dead].next_sibling == second.node);
  CHECK(tree.child(TokenTree::root(), TokenId(7)) == second.node);

  tree[second.node].status = NodeStatus::kWithdrawn;
  CHECK_FALSE(tree.child(TokenTree::root(), TokenId(7)).valid());
  const Hung third = tree.hang(TokenTree::root(), TokenId(7), capture::Source::kDraft, -3, 0.5f);
  CHECK(third.is_new);
  CHECK(third.node == second.node);
  CHECK(tree[third.node].status == NodeStatus::kPending);
  CHECK(tree[third.node].source == capture::Source::kDraft);
  CHECK(tree[third.node].q == 0.5f);
  CHECK(tree[third.node].logprob == -3);
  CHECK(tree.size() == 3);
}

TEST_CASE("token tree: a log-prob that becomes known sets the score below the parent's") {
  TokenTree tree(1);
  const NodeId a = tree.hang(TokenTree::root(), TokenId(7), kSource, -1).node;
  const NodeId b = tree.hang(a, TokenId(8), kSource, std::nanf("")).node;
  tree.set_logprob(b, -0.25f);
  CHECK(tree[b].logprob == -0.25f);
  CHECK(tree[b].score == -1.25f);
}

TEST_CASE("token tree: an unknown log-prob makes the score unknown") {
  TokenTree tree(1);
  const NodeId draft = tree.hang(TokenTree::root(), TokenId(7), kSource, std::nanf("")).node;
  CHECK(std::isnan(tree[draft].score));
  CHECK(std::isnan(tree[tree.hang(draft, TokenId(8), kSource, -1).node].score));
}

TEST_CASE("token tree: a parent that is not there is refused") {
  TokenTree tree(1);
  CHECK_THROWS_AS(tree.hang(NodeId(1), TokenId(7), kSource, 0).node, Error);
  CHECK_THROWS_AS(tree.hang(NodeId(), TokenId(7), kSource, 0).node, Error);
}

}  // namespace
}  // namespace triescope
