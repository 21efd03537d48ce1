#include "viz/layouts/trie_layout.h"

#include <algorithm>

#include "core/base/count_up.h"

namespace triescope::viz {

TrieLayout::Column& TrieLayout::column_of(std::int32_t column) {
  const auto i = static_cast<std::size_t>(column);
  if (columns_.size() <= i) columns_.resize(i + 1);
  columns_[i].listed = false;
  return columns_[i];
}

// Sets parents, columns and children; `next_sibling` is -1 for every item.
void TrieLayout::link_children(std::span<const std::int32_t> parents, std::span<const char> late,
                               std::vector<std::int32_t>& next_sibling) {
  const auto add = [&](std::size_t i) {
    Item& above = at(items_[i].parent);
    const auto item = static_cast<std::int32_t>(i);
    if (above.first_child < 0)
      above.first_child = item;
    else
      next_sibling[static_cast<std::size_t>(above.last_child)] = item;
    above.last_child = item;
  };
  for (std::size_t i = 0; i < parents.size(); ++i) {
    Item& it = items_[i];
    it.parent = parents[i];
    it.late = !late.empty() && late[i] != 0;
    if (it.parent < 0) continue;
    it.column = at(it.parent).column + 1;
    if (!it.late) add(i);
  }
  for (std::size_t i = 0; i < late.size(); ++i)
    if (late[i] != 0 && items_[i].parent >= 0) add(i);
}

void TrieLayout::build(std::span<const std::int32_t> parents, std::span<const char> late) {
  const std::size_t count = parents.size();
  items_.assign(count, {});
  chains_.clear();
  columns_.clear();
  rows_ = 0;
  if (count == 0) return;
  std::vector<std::int32_t> next_sibling(count, -1);
  link_children(parents, late, next_sibling);
  // The number of items in the line that an item begins; the last item's is 1.
  std::vector<std::int32_t> length(count, 1);
  std::int32_t columns = 0;
  for (std::size_t i = count; i-- > 0;) {
    if (const std::int32_t child = items_[i].first_child; child >= 0)
      length[i] = length[static_cast<std::size_t>(child)] + 1;
    columns = std::max(columns, items_[i].column + 1);
  }
  columns_.resize(static_cast<std::size_t>(columns));
  // A line is placed below everything that is already there, then what hangs below its end, then
  // what hangs nearer to its head. That is the order from top to bottom in every column.
  std::vector<std::int32_t> free_row(columns_.size(), 0);  // by column: the first free one
  std::vector<std::int32_t> heads = {0};
  while (!heads.empty()) {
    const std::int32_t head = heads.back();
    heads.pop_back();
    const auto chain = static_cast<std::int32_t>(chains_.size());
    const auto from = free_row.begin() + at(head).column;
    const auto to = from + length[static_cast<std::size_t>(head)];
    const std::int32_t row = *std::max_element(from, to);
    std::fill(from, to, row + 1);
    chains_.push_back({head, row});
    rows_ = std::max(rows_, row + 1);
    for (std::int32_t item = head; item >= 0; item = at(item).first_child) {
      Item& it = at(item);
      it.chain = chain;
      Column& column = columns_[static_cast<std::size_t>(it.column)];
      it.above = column.bottom;
      if (column.bottom >= 0)
        at(column.bottom).below = item;
      else
        column.top = item;
      column.bottom = item;
      if (it.first_child == it.last_child) continue;
      const std::size_t mark = heads.size();
      for (std::int32_t child = next_sibling[static_cast<std::size_t>(it.first_child)]; child >= 0;
           child = next_sibling[static_cast<std::size_t>(child)])
        heads.push_back(child);
      std::reverse(heads.begin() + static_cast<std::ptrdiff_t>(mark), heads.end());
    }
  }
}

void TrieLayout::place(std::span<const std::int32_t> parents, std::span<const std::int32_t> rows) {
  const std::size_t count = parents.size();
  items_.assign(count, {});
  chains_.clear();
  columns_.clear();
  rows_ = 0;
  std::vector<std::int32_t> next_sibling(count, -1), by_row = count_up(count);
  link_children(parents, {}, next_sibling);
  for (std::size_t i = 0; i < count; ++i) {
    items_[i].chain = static_cast<std::int32_t>(i);
    chains_.push_back({static_cast<std::int32_t>(i), rows[i]});
    rows_ = std::max(rows_, rows[i] + 1);
  }
  std::stable_sort(by_row.begin(), by_row.end(),
                   [&](std::int32_t a, std::int32_t b) { return row(a) < row(b); });
  for (const std::int32_t item : by_row) {
    Column& column = column_of(at(item).column);
    at(item).above = column.bottom;
    (column.bottom >= 0 ? at(column.bottom).below : column.top) = item;
    column.bottom = item;
  }
}

bool TrieLayout::append(std::int32_t parent, bool late) {
  if (parent >= 0 && !late && at(parent).last_child >= 0 && at(at(parent).last_child).late)
    return false;
  const std::int32_t item = size();
  items_.push_back({});
  Item& it = at(item);
  it.parent = parent;
  it.late = late;
  if (parent < 0) {
    chains_.push_back({item, 0});
    Column& column = column_of(0);
    column.top = column.bottom = item;
    rows_ = 1;
    return true;
  }
  it.column = at(parent).column + 1;
  // The neighbour above is the last child of the nearest node, from the parent upwards, that has
  // one.
  std::int32_t above = at(parent).last_child;
  for (std::int32_t node = at(parent).above; above < 0 && node >= 0; node = at(node).above)
    above = at(node).last_child;
  Column& column = column_of(it.column);
  const std::int32_t below = above >= 0 ? at(above).below : column.top;
  it.above = above;
  it.below = below;
  (above >= 0 ? at(above).below : column.top) = item;
  (below >= 0 ? at(below).above : column.bottom) = item;
  if (at(parent).first_child < 0) {
    at(parent).first_child = item;
    it.chain = at(parent).chain;
  } else {
    it.chain = static_cast<std::int32_t>(chains_.size());
    chains_.push_back({item, 0});
  }
  at(parent).last_child = item;
  const std::int32_t own = row(item);
  const std::int32_t needed = above >= 0 ? std::max(own, row(above) + 1) : own;
  // Items below hang below a lower parent, so only a raised line can get in its way.
  if (needed > own) raise(it.chain, needed);
  rows_ = std::max(rows_, needed + 1);
  return true;
}

void TrieLayout::raise(std::int32_t chain, std::int32_t row) {
  chains_[static_cast<std::size_t>(chain)].row = row;
  raised_.assign(1, chain);
  while (!raised_.empty()) {
    const Chain moved = chains_[static_cast<std::size_t>(raised_.back())];
    raised_.pop_back();
    rows_ = std::max(rows_, moved.row + 1);
    for (std::int32_t item = moved.head; item >= 0; item = at(item).first_child) {
      if (at(item).below < 0) continue;
      const std::int32_t next = at(at(item).below).chain;
      Chain& neighbour = chains_[static_cast<std::size_t>(next)];
      if (neighbour.row > moved.row) continue;
      neighbour.row = moved.row + 1;
      raised_.push_back(next);
    }
  }
}

std::span<const std::int32_t> TrieLayout::column_items(std::int32_t index) const {
  Column& column = columns_[static_cast<std::size_t>(index)];
  if (!column.listed) {
    column.items.clear();
    for (std::int32_t item = column.top; item >= 0; item = at(item).below)
      column.items.push_back(item);
    column.listed = true;
  }
  return column.items;
}

}  // namespace triescope::viz
