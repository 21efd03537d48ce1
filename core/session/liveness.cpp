#include "core/session/liveness.h"

#include <unordered_set>

namespace triescope {

void Liveness::hang(const TokenTree& tree, std::span<const NodeId> nodes) {
  live_children_.grow(tree.size());
  gone_.grow(tree.size());
  for (const NodeId id : nodes) ++live_children_[tree[id].parent];
}

Settled Liveness::settle(TokenTree& tree, std::span<const NodeId> rows,
                         std::span<const NodeId> frontier) {
  Settled settled;
  std::unordered_set<NodeId> ran(rows.begin(), rows.end()), again;
  std::vector<NodeId> fresh;
  for (const NodeId id : frontier) (ran.contains(id) ? settled.again : fresh).push_back(id);
  again.insert(settled.again.begin(), settled.again.end());
  hang(tree, fresh);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    Node& decided = tree[*row];
    if (again.contains(*row)) {
      decided.status = NodeStatus::kPending;
      continue;
    }
    if (decided.status == NodeStatus::kPending) decided.status = NodeStatus::kLive;
    for (NodeId id = *row; id != TokenTree::root(); id = tree[id].parent) {
      if (gone_[id] || live_children_[id] > 0 || again.contains(id)) break;
      gone_[id] = true;
      if (tree[id].status != NodeStatus::kFinished) tree[id].status = NodeStatus::kDead;
      settled.dead.push_back(id);
      --live_children_[tree[id].parent];
    }
  }
  return settled;
}

}  // namespace triescope
