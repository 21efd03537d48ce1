// Liveness: which nodes some live path still goes through. Every node counts its live children and
// dies when the last of them does, so a step costs what it hung and what died, never a walk over
// all ancestors. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/token_tree.h"

namespace triescope {

struct Settled {
  std::vector<NodeId> dead;  // children before parents
  // pending nodes of the frontier that go through the next forward once more
  std::vector<NodeId> again;
};

class Liveness {
 public:
  // Adds nodes that came into the tree and are not decided yet: drafts that go through the forward,
  // and the next frontier.
  void hang(const TokenTree& tree, std::span<const NodeId> nodes);

  // Settles a decided step: `rows` (parents first, all hung before) went through the forward, and
  // `frontier` goes on. Hangs new nodes of the frontier, marks rows that live kLive and nodes that
  // died kDead (a node that ends a finished sequence stays kFinished).
  Settled settle(TokenTree& tree, std::span<const NodeId> rows, std::span<const NodeId> frontier);

 private:
  IdVector<NodeId, std::int32_t> live_children_;
  IdVector<NodeId, bool> gone_;  // whether the node's KV was given up
};

}  // namespace triescope
