// Proposals: how a step's drafts were drawn, where that was at random. Plain values.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/method/distribution.h"

namespace triescope {

// For the drafts below one node: q, and the draws in their order. A token that was drawn twice
// appears twice (its node is shared).
struct Proposal {
  Distribution q;
  std::vector<NodeId> draws;
  bool replacement = true;  // drawn with replacement
};

using Proposals = std::unordered_map<NodeId, Proposal>;  // by the node below which they hang

}  // namespace triescope
