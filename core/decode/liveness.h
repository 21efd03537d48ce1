// Liveness: which nodes some live path still goes through. A count of live children a node; a node
// dies when its last one does, so that a step costs what it hung and what died, never a walk over
// all ancestors. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tree/token_tree.h"

namespace triescope {

struct Settled {
  std::vector<NodeId> dead;   // children before parents
  std::vector<NodeId> again;  // of the frontier: go through the next forward once more; pending
};

class Liveness {
 public:
  // Nodes that came into the tree and are not decided yet: drafts that go through the forward, the
  // next frontier.
  void hang(const TokenTree& tree, std::span<const NodeId> nodes);

  // The step is decided: `rows` (parents first, all hung before) went through the forward,
  // `frontier` is what goes on. Hangs new nodes of the frontier; marks rows that live kLive and
  // what died kDead (a node that ends a finished sequence stays kFinished).
  Settled settle(TokenTree& tree, std::span<const NodeId> rows, std::span<const NodeId> frontier);

 private:
  IdVector<NodeId, std::int32_t> live_children_;
  IdVector<NodeId, bool> gone_;  // its KV was given up
};

}  // namespace triescope
