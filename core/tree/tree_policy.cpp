#include "core/tree/tree_policy.h"

#include <algorithm>
#include <set>

namespace triescope {

std::vector<std::int32_t> TreePolicy::place_prefix(const TokenTree& tree,
                                                   std::span<const NodeId> path,
                                                   std::int32_t skipped) {
  for (std::int32_t i = skipped; i < tree.prompt_tokens(); ++i) {
    const std::int32_t slot = next_slot();
    store_.take(slot, prompt_occupant(i));
    common_.push_back(slot);
  }
  lists_begin_ = tree.prompt_tokens() - skipped;
  lists_[TokenTree::root()] = {};
  std::vector<std::int32_t> slots = common_;
  const std::vector<std::int32_t> below = place(tree, path).slots;
  slots.insert(slots.end(), below.begin(), below.end());
  return slots;
}

Placement TreePolicy::place(const TokenTree& tree, std::span<const NodeId> rows) {
  Placement out;
  out.prefix_slots = common_;
  out.own_offsets.push_back(0);
  for (const NodeId row : rows) {
    const std::int32_t slot = next_slot();
    store_.take(slot, row.value);
    const Slots& parent = lists_.at(tree[row].parent);
    Slots list;
    list.reserve(parent.size() + 1);
    list = parent;
    list.push_back(slot);
    out.slots.push_back(slot);
    out.own_slots.insert(out.own_slots.end(), list.begin(), list.end());
    out.own_offsets.push_back(static_cast<std::int32_t>(out.own_slots.size()));
    lists_.emplace(row, std::move(list));
  }
  return out;
}

void TreePolicy::commit(const TokenTree& tree, const Committed& step) {
  for (const NodeId id : step.dropped)
    if (const SlotId slot = store_.slot_of(id); slot.valid()) drop(slot.value);

  // Only parents of pending nodes need their lists again.
  std::vector<NodeId> parents;
  for (const NodeId id : step.frontier)
    if (std::ranges::find(parents, tree[id].parent) == parents.end())
      parents.push_back(tree[id].parent);
  std::unordered_map<NodeId, Slots> kept;
  for (const NodeId id : parents) kept.emplace(id, std::move(lists_.at(id)));
  lists_ = std::move(kept);
  forget_before(step.horizon);

  follow_moves(collect(step));
  share_common_ancestors(parents);
}

void TreePolicy::forget_before(std::int32_t horizon) {
  const auto cut = [](Slots& slots, std::int32_t count) {
    slots.erase(slots.begin(), slots.begin() + std::min<std::ptrdiff_t>(count, std::ssize(slots)));
  };
  if (const std::int32_t count = horizon - common_begin_; count > 0 && !common_.empty()) {
    const std::int32_t gone = std::min(count, static_cast<std::int32_t>(common_.size()));
    for (std::int32_t i = 0; i < gone; ++i) drop(common_[static_cast<std::size_t>(i)]);
    cut(common_, gone);
    common_begin_ += gone;
  }
  if (const std::int32_t count = horizon - lists_begin_; count > 0) {
    std::set<std::int32_t> slots;  // a set, because branches share slots
    for (auto& [id, list] : lists_) {
      for (std::int32_t i = 0; i < count && i < std::ssize(list); ++i)
        slots.insert(list[static_cast<std::size_t>(i)]);
      cut(list, count);
    }
    for (const std::int32_t slot : slots) drop(slot);
    lists_begin_ = horizon;
  }
}

void TreePolicy::follow_moves(std::span<const std::int32_t> map) {
  if (map.empty()) return;
  const auto follow = [&](std::int32_t& slot) { slot = map[static_cast<std::size_t>(slot)]; };
  std::ranges::for_each(common_, follow);
  for (auto& [id, list] : lists_) std::ranges::for_each(list, follow);
}

// All pending nodes hang below `parents`: every later row also sees what the parents' lists have in
// common at their front.
void TreePolicy::share_common_ancestors(std::span<const NodeId> parents) {
  if (parents.empty()) return;
  const Slots& first = lists_.at(parents.front());
  std::size_t shared = first.size();
  for (const NodeId id : parents) {
    const Slots& list = lists_.at(id);
    shared = std::min(shared, list.size());
    for (std::size_t i = 0; i < shared; ++i)
      if (list[i] != first[i]) shared = i;
  }
  if (shared == 0) return;
  if (common_.empty()) common_begin_ = lists_begin_;
  lists_begin_ += static_cast<std::int32_t>(shared);
  common_.insert(common_.end(), first.begin(), first.begin() + static_cast<std::ptrdiff_t>(shared));
  for (auto& [id, list] : lists_)
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(shared));
}

}  // namespace triescope
