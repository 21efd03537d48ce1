#include "core/decode/liveness.h"

namespace triescope {

void Liveness::hang(const TokenTree& tree, std::span<const NodeId> nodes) {
  live_children_.resize(static_cast<std::size_t>(tree.size()), 0);
  gone_.resize(static_cast<std::size_t>(tree.size()), false);
  for (const NodeId id : nodes) ++live_children_[static_cast<std::size_t>(tree[id].parent.value)];
}

std::vector<NodeId> Liveness::settle(TokenTree& tree, std::span<const NodeId> rows,
                                     std::span<const NodeId> frontier) {
  hang(tree, frontier);
  std::vector<NodeId> dead;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    Node& decided = tree[*row];
    if (decided.status == NodeStatus::kPending) decided.status = NodeStatus::kLive;
    for (NodeId id = *row; id != TokenTree::root(); id = tree[id].parent) {
      const auto i = static_cast<std::size_t>(id.value);
      if (gone_[i] || live_children_[i] > 0) break;
      gone_[i] = true;
      if (tree[id].status != NodeStatus::kFinished) tree[id].status = NodeStatus::kDead;
      dead.push_back(id);
      --live_children_[static_cast<std::size_t>(tree[id].parent.value)];
    }
  }
  return dead;
}

}  // namespace triescope
