#include "core/lookup/ngram_trie.h"

#include <algorithm>
#include <queue>

#include "core/base/error.h"

namespace triescope {

NgramTrie::NgramTrie(int n, int prefix_length, bool index_tail)
    : n_(n), prefix_length_(prefix_length), index_tail_(index_tail), nodes_(1), table_(1024) {
  if (prefix_length < 1 || prefix_length >= n)
    throw Error(ErrorCode::kInvalidArgument,
                "n-gram trie: expected 1 <= prefix length < n, found prefix length " +
                    std::to_string(prefix_length) + " and n " + std::to_string(n));
}

std::size_t NgramTrie::slot_of(std::int32_t parent, std::int32_t token) const {
  std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(parent)) << 32) |
                      static_cast<std::uint32_t>(token);
  key *= 0x9E3779B97F4A7C15ULL;
  key ^= key >> 32;
  std::size_t at = key & (table_.size() - 1);
  while (table_[at].child != 0 && (table_[at].parent != parent || table_[at].token != token))
    at = (at + 1) & (table_.size() - 1);
  return at;
}

std::int32_t NgramTrie::find_child(std::int32_t parent, std::int32_t token) const {
  const Entry& entry = table_[slot_of(parent, token)];
  return entry.child == 0 ? -1 : entry.child;
}

void NgramTrie::grow() {
  std::vector<Entry> old(table_.size() * 2);
  old.swap(table_);
  for (const Entry& entry : old)
    if (entry.child != 0) table_[slot_of(entry.parent, entry.token)] = entry;
}

std::int32_t NgramTrie::visit_child(std::int32_t parent, std::int32_t token, std::int32_t window) {
  if (nodes_.size() * 2 > table_.size()) grow();
  Entry& entry = table_[slot_of(parent, token)];
  if (entry.child == 0) {
    const auto child = static_cast<std::int32_t>(nodes_.size());
    entry = {parent, token, child};
    Node node;
    node.token = token;
    node.next_sibling = nodes_[static_cast<std::size_t>(parent)].first_child;
    nodes_[static_cast<std::size_t>(parent)].first_child = child;
    nodes_.push_back(node);
  }
  Node& node = nodes_[static_cast<std::size_t>(entry.child)];
  ++node.frequency;
  node.last_seen = std::max(node.last_seen, window);
  return entry.child;
}

void NgramTrie::append(std::int32_t token) {
  text_.push_back(token);
  const auto size = static_cast<std::int32_t>(text_.size());
  if (!index_tail_) {
    if (size < n_) return;
    std::int32_t node = 0;
    for (std::int32_t i = size - n_; i < size; ++i)
      node = visit_child(node, text_[static_cast<std::size_t>(i)], size - n_);
    return;
  }
  open_.push_back(0);
  const auto oldest = size - static_cast<std::int32_t>(open_.size());
  for (std::size_t i = 0; i < open_.size(); ++i)
    open_[i] = visit_child(open_[i], token, oldest + static_cast<std::int32_t>(i));
  if (static_cast<int>(open_.size()) == n_) open_.erase(open_.begin());
}

NgramTrie::Answer NgramTrie::continuations(std::span<const std::int32_t> context, int max_nodes,
                                           int max_depth,
                                           std::span<const std::int32_t> last_tokens) const {
  Answer answer;
  if (max_nodes <= 0 || max_depth <= 0) return answer;
  std::int32_t key = -1;
  for (int length = std::min(prefix_length_, static_cast<int>(context.size())); length >= 1;
       --length) {
    std::int32_t node = 0;
    for (const std::int32_t token : context.last(static_cast<std::size_t>(length)))
      if ((node = find_child(node, token)) < 0) break;
    // When generated tokens are indexed, the text contains the context itself: a key that nothing
    // follows is not a hit.
    if (node > 0 && nodes_[static_cast<std::size_t>(node)].first_child >= 0) {
      key = node;
      answer.matched_tokens = length;
      break;
    }
  }
  if (key < 0) return answer;

  struct Open {
    std::int32_t frequency, last_seen, node, parent, depth;
    // The most frequent node comes first, then the one seen last, then the one that joined the trie
    // first.
    bool operator<(const Open& o) const {
      if (frequency != o.frequency) return frequency < o.frequency;
      if (last_seen != o.last_seen) return last_seen < o.last_seen;
      return node > o.node;
    }
  };
  std::priority_queue<Open> open;
  const auto push_children = [&](std::int32_t of, std::int32_t parent, std::int32_t depth) {
    for (std::int32_t child = nodes_[static_cast<std::size_t>(of)].first_child; child >= 0;
         child = nodes_[static_cast<std::size_t>(child)].next_sibling) {
      const Node& node = nodes_[static_cast<std::size_t>(child)];
      open.push({node.frequency, node.last_seen, child, parent, depth});
    }
  };
  push_children(key, -1, 1);
  while (!open.empty() && static_cast<int>(answer.nodes.size()) < max_nodes) {
    const Open best = open.top();
    open.pop();
    const std::int32_t token = nodes_[static_cast<std::size_t>(best.node)].token;
    const auto index = static_cast<std::int32_t>(answer.nodes.size());
    answer.nodes.push_back({token, best.parent, best.depth, best.frequency});
    if (best.depth < max_depth && std::ranges::find(last_tokens, token) == last_tokens.end())
      push_children(best.node, index, best.depth + 1);
  }
  return answer;
}

}  // namespace triescope
