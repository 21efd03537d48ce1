// DDTree's tree: grown best first from one distribution a depth, whatever stands above. A node is the tuple of ranks on
// its way and weighs the sum of their log-probabilities. The heaviest of the open nodes joins the tree and opens two:
// its next sibling (rank + 1) and its first child. The tree of a budget is therefore the beginning of that of a larger
// one, and no other tree of so many nodes is expected to have more accepted. Pure. Source: "DDTree", arXiv 2604.12989.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace triescope {

struct GrownNode {
  int parent = -1;  // an index in the tree; -1 = the root
  int depth = 0, rank = 0;
  std::int32_t token = 0;
  double weight = 0;  // sum of log-probabilities
};

// The best tokens of a depth and their log-probabilities, descending.
using DepthRow = std::vector<std::pair<float, std::int32_t>>;

// The first `budget` nodes, in the order of growth, heaviest first; of equal weights the one that was opened first.
// Nothing grows below a token for which `ends` holds, nor below the last of `depths`.
std::vector<GrownNode> grow_best_first(std::span<const DepthRow> depths, std::size_t budget,
                                       const std::function<bool(std::int32_t)>& ends);

}  // namespace triescope
