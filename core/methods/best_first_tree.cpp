#include "core/methods/best_first_tree.h"

#include <limits>
#include <queue>
#include <tuple>

namespace triescope {
namespace {

struct Open {
  GrownNode node;
  std::size_t order = 0;  // in which it was opened
  bool operator<(const Open& other) const {
    return std::tuple(node.weight, other.order) < std::tuple(other.node.weight, order);
  }
};

}  // namespace

std::vector<GrownNode> grow_best_first(std::span<const DepthRow> depths, std::size_t budget,
                                       const std::function<bool(std::int32_t)>& ends) {
  std::vector<GrownNode> tree;
  std::priority_queue<Open> heap;
  std::size_t opened = 0;
  const auto open = [&](int parent, int depth, int rank) {
    const auto d = static_cast<std::size_t>(depth), r = static_cast<std::size_t>(rank);
    if (d >= depths.size() || r >= depths[d].size()) return;
    const auto& [logprob, token] = depths[d][r];
    if (logprob == -std::numeric_limits<float>::infinity()) return;
    const double above = parent < 0 ? 0 : tree[static_cast<std::size_t>(parent)].weight;
    heap.push({{parent, depth, rank, token, above + static_cast<double>(logprob)}, opened++});
  };
  open(-1, 0, 0);
  while (tree.size() < budget && !heap.empty()) {
    const GrownNode best = heap.top().node;
    heap.pop();
    const auto index = static_cast<int>(tree.size());
    tree.push_back(best);
    open(best.parent, best.depth, best.rank + 1);
    if (!ends(best.token)) open(index, best.depth + 1, 0);
  }
  return tree;
}

}  // namespace triescope
