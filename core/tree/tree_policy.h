// TreePolicy: what keep, compact and recycle share. A node has one slot, whoever sees it; the
// prompt lies in slots 0 .. n-1 and all rows share it. The policies differ in where the next slot
// comes from and what becomes of a dead one.
//
// Entries that are out of every window fall off the front of common_, then of the lists.
//
// A row sees common_ (the prompt and the ancestors that all live paths share) + its own
// list. Lists are kept only for nodes that have KV and a pending child: child's list = parent's
// list + own slot.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/tree/kv_policy.h"

namespace triescope {

class TreePolicy : public KvPolicy {
 public:
  explicit TreePolicy(SlotStore& store) : store_(store) {}

  std::vector<std::int32_t> place_prefix(const TokenTree& tree, std::span<const NodeId> path,
                                         std::int32_t skipped) final;
  Placement place(const TokenTree& tree, std::span<const NodeId> rows) final;
  void commit(const TokenTree& tree, const Committed& step) final;

 protected:
  virtual std::int32_t next_slot() = 0;
  virtual void drop(std::int32_t slot) = 0;  // the occupant no longer needs the slot
  // Called after the drops. Returns where slots went: map[old] = new, or empty where nothing moved.
  virtual std::vector<std::int32_t> collect(const Committed& step) {
    (void)step;
    return {};
  }
  SlotStore& store_;

 private:
  void forget_before(std::int32_t horizon);
  void follow_moves(std::span<const std::int32_t> map);
  void share_common_ancestors(std::span<const NodeId> parents);

  using Slots = std::vector<std::int32_t>;
  Slots common_;
  // Positions of common_'s first entry and of every list's first entry.
  std::int32_t common_begin_ = 0, lists_begin_ = 0;
  // A list leaves out common_; its last entry is the node's own slot.
  std::unordered_map<NodeId, Slots> lists_;
};

}  // namespace triescope
