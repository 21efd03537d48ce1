#include "viz/layouts/trie_layout.h"

#include <algorithm>

namespace triescope::viz {

TrieLayout layout_trie(std::span<const capture::NodeRow> nodes,
                       const std::function<bool(std::int32_t)>& folded,
                       const std::function<bool(std::int32_t)>& hidden,
                       const std::function<float(std::int32_t)>& width) {
  TrieLayout layout;
  const std::size_t count = nodes.size();
  layout.row_of.assign(count, -1);
  if (count == 0) return layout;

  // Children lists as first child / next sibling, in id order.
  std::vector<std::int32_t> first(count, -1), last(count, -1), next(count, -1), below(count, 0);
  std::vector<std::int32_t> left_out(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    if (hidden(static_cast<std::int32_t>(i))) continue;
    const auto parent = static_cast<std::size_t>(nodes[i].parent);
    const auto id = static_cast<std::int32_t>(i);
    if (first[parent] < 0)
      first[parent] = id;
    else
      next[static_cast<std::size_t>(last[parent])] = id;
    last[parent] = id;
  }
  for (std::size_t i = count; i-- > 1;) {
    const auto parent = static_cast<std::size_t>(nodes[i].parent);
    below[parent] += below[i] + 1;
    if (hidden(static_cast<std::int32_t>(i))) left_out[parent] += below[i] + 1;
  }

  // Depth first without recursion (a path may be thousands long): a node is placed when all its
  // children are.
  std::vector<std::int32_t> order, stack = {0};
  std::vector<char> leaf(count, 0);
  order.reserve(count);
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    order.push_back(node);
    const auto i = static_cast<std::size_t>(node);
    if (first[i] < 0 || (node != 0 && folded(node))) {
      leaf[i] = 1;
      continue;
    }
    const std::size_t mark = stack.size();
    for (std::int32_t child = first[i]; child >= 0; child = next[static_cast<std::size_t>(child)])
      stack.push_back(child);
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(mark), stack.end());
  }
  float row = 0;
  for (const std::int32_t node : order)
    if (leaf[static_cast<std::size_t>(node)])
      layout.row_of[static_cast<std::size_t>(node)] = row++ + 0.5f;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto i = static_cast<std::size_t>(*it);
    if (!leaf[i])
      layout.row_of[i] = (layout.row_of[static_cast<std::size_t>(first[i])] +
                          layout.row_of[static_cast<std::size_t>(last[i])]) /
                         2;
  }
  layout.rows = row;

  for (const std::int32_t node : order) {
    const auto i = static_cast<std::size_t>(node);
    const auto depth = static_cast<std::size_t>(nodes[i].depth);
    if (layout.columns.size() <= depth) {
      layout.columns.resize(depth + 1);
      layout.column_width.resize(depth + 1, 0);
    }
    layout.columns[depth].push_back({node, layout.row_of[i], leaf[i] ? below[i] : left_out[i]});
    layout.column_width[depth] = std::max(layout.column_width[depth], width(node));
  }
  // Depth-first order already goes from top to bottom within a column.
  return layout;
}

}  // namespace triescope::viz
