// Trie layout: where the items of an ordered tree stand, growing to the right. Pure geometry: it
// counts columns and rows, without drawing or tokens. An item is what is drawn as one mark: a node,
// or a run of nodes folded into one.
//
// The result is a tidy tree of straight lines: a first child stands on its parent's row, every
// other child on the first row below that is free along its own line, and nothing crosses. Lines
// ("chains" of first children) are the unit: the rows are the smallest solution of
//   row(chain) >= 1 + row(chain above it in any of its columns),
// which is unique. So append() finds it by pushing down what is in the way, without touching the
// rest, and build() finds the same rows in one walk. place() takes given rows instead. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace triescope::viz {

class TrieLayout {
 public:
  // Item i's parent is parents[i] < i; the first item's is -1. Siblings stand in the order of their
  // numbers, except that those with late[i] (dead branches) stand below all others. `late` may be
  // empty. O(n).
  void build(std::span<const std::int32_t> parents, std::span<const char> late = {});
  // Adds an item as the last child of `parent`. It costs what it pushes down. False, and nothing
  // done, if the item would have to stand above a late sibling: call build() then.
  bool append(std::int32_t parent, bool late = false);

  // Places items in given rows, no two of a column in the same row (trie_lanes()). append() must
  // not follow.
  void place(std::span<const std::int32_t> parents, std::span<const std::int32_t> rows);

  std::int32_t size() const { return static_cast<std::int32_t>(items_.size()); }
  std::int32_t column(std::int32_t item) const { return at(item).column; }
  std::int32_t row(std::int32_t item) const {
    return chains_[static_cast<std::size_t>(at(item).chain)].row;
  }
  std::int32_t parent(std::int32_t item) const { return at(item).parent; }
  std::int32_t first_child(std::int32_t item) const { return at(item).first_child; }
  std::int32_t last_child(std::int32_t item) const { return at(item).last_child; }
  std::int32_t rows() const { return rows_; }
  std::int32_t columns() const { return static_cast<std::int32_t>(columns_.size()); }
  // The items of a column from top to bottom. Rows strictly increase, so binary search finds a
  // range of rows.
  std::span<const std::int32_t> column_items(std::int32_t column) const;

 private:
  struct Item {
    std::int32_t parent = -1, column = 0, chain = 0;
    std::int32_t first_child = -1, last_child = -1;
    std::int32_t above = -1, below = -1;  // neighbours in the column
    bool late = false;
  };
  struct Chain {
    std::int32_t head = 0, row = 0;
  };
  struct Column {
    std::int32_t top = -1, bottom = -1;
    std::vector<std::int32_t> items;
    bool listed = false;  // whether `items` is up to date
  };

  const Item& at(std::int32_t item) const { return items_[static_cast<std::size_t>(item)]; }
  Item& at(std::int32_t item) { return items_[static_cast<std::size_t>(item)]; }
  Column& column_of(std::int32_t column);
  void link_children(std::span<const std::int32_t> parents, std::span<const char> late,
                     std::vector<std::int32_t>& next_sibling);
  void raise(std::int32_t chain, std::int32_t row);

  std::vector<Item> items_;
  std::vector<Chain> chains_;
  mutable std::vector<Column> columns_;
  std::int32_t rows_ = 0;
  std::vector<std::int32_t> raised_;  // work list, kept between calls
};

}  // namespace triescope::viz
