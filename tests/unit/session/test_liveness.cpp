// Which nodes some live path still goes through.
#include <doctest/doctest.h>

#include "core/session/liveness.h"

namespace triescope::test_liveness {
namespace {

constexpr auto kSource = capture::Source::kBeam;

TEST_CASE("liveness: a node dies when the last path through it does, children first") {
  TokenTree tree(1);
  Liveness liveness;
  const NodeId a = tree.hang(TokenTree::root(), TokenId(1), kSource, 0).node;
  const NodeId first[] = {a};
  CHECK(liveness.settle(tree, {}, first).dead.empty());
  const NodeId b = tree.hang(a, TokenId(2), kSource, 0).node,
               c = tree.hang(a, TokenId(3), kSource, 0).node;
  const NodeId second[] = {b, c};
  CHECK(liveness.settle(tree, first, second).dead.empty());
  CHECK(tree[a].status == NodeStatus::kLive);
  const NodeId d = tree.hang(b, TokenId(4), kSource, 0).node;
  const NodeId third[] = {d};
  CHECK(liveness.settle(tree, second, third).dead == std::vector<NodeId>{c});
  CHECK(tree[c].status == NodeStatus::kDead);
  CHECK(liveness.settle(tree, third, {}).dead == std::vector<NodeId>{d, b, a});
}

TEST_CASE("liveness: drafts that were not taken die, the end of a text keeps its status") {
  TokenTree tree(1);
  Liveness liveness;
  const NodeId a = tree.hang(TokenTree::root(), TokenId(1), kSource, 0).node;
  const NodeId frontier[] = {a};
  liveness.settle(tree, {}, frontier);
  const NodeId good = tree.hang(a, TokenId(2), kSource, 0).node,
               eos = tree.hang(good, TokenId(0), kSource, 0).node;
  const NodeId after = tree.hang(eos, TokenId(5), kSource, 0).node,
               wrong = tree.hang(a, TokenId(6), kSource, 0).node;
  const NodeId drafts[] = {good, eos, after, wrong};
  liveness.hang(tree, drafts);
  const NodeId rows[] = {a, good, eos, after, wrong};
  tree[eos].status = NodeStatus::kFinished;
  const auto dead = liveness.settle(tree, rows, {}).dead;
  CHECK(dead.size() == 5);  // each once
  CHECK(tree[eos].status == NodeStatus::kFinished);
  CHECK(tree[wrong].status == NodeStatus::kDead);
  for (std::size_t i = 0; i < dead.size(); ++i)
    for (std::size_t k = i + 1; k < dead.size(); ++k) CHECK_FALSE(tree[dead[k]].parent == dead[i]);
}

TEST_CASE("liveness: a row that the frontier names goes through the next forward again") {
  TokenTree tree(1);
  Liveness liveness;
  const NodeId a = tree.hang(TokenTree::root(), TokenId(1), kSource, 0).node;
  const NodeId first[] = {a};
  liveness.settle(tree, {}, first);
  const NodeId draft = tree.hang(a, TokenId(2), kSource, 0).node,
               below = tree.hang(draft, TokenId(3), kSource, 0).node;
  const NodeId drafts[] = {draft, below}, rows[] = {a, draft, below};
  liveness.hang(tree, drafts);
  const NodeId fresh = tree.hang(a, TokenId(4), kSource, 0).node;
  const NodeId second[] = {fresh, draft};
  const Settled settled = liveness.settle(tree, rows, second);
  CHECK(settled.dead == std::vector<NodeId>{below});
  CHECK(settled.again == std::vector<NodeId>{draft});
  CHECK(tree[draft].status == NodeStatus::kPending);
  CHECK(tree[a].status == NodeStatus::kLive);

  const NodeId third_rows[] = {fresh, draft};
  const NodeId next = tree.hang(draft, TokenId(5), kSource, 0).node;
  const NodeId third[] = {next};
  CHECK(liveness.settle(tree, third_rows, third).dead == std::vector<NodeId>{fresh});
  CHECK(tree[draft].status == NodeStatus::kLive);
  const NodeId last[] = {next};
  CHECK(liveness.settle(tree, last, {}).dead == std::vector<NodeId>{next, draft, a});
}

}  // namespace
}  // namespace triescope::test_liveness
