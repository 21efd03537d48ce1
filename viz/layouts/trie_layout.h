// Trie layout: where the nodes of a token tree stand, growing to the right. Pure geometry; units:
// columns are px of text width, rows are counted (multiply by the row height). O(n), no drawing. A
// tidy tree of depth columns: leaves take rows in order of ids, an inner node stands midway between
// its first and last child. A folded node is shown as a leaf that carries the number of nodes below
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/capture/records.h"

namespace triescope::viz {

struct TrieLayout {
  struct Entry {
    std::int32_t node = 0;
    float row = 0;            // middle of the node, in rows from the top
    std::int32_t folded = 0;  // nodes hidden below it
  };
  std::vector<std::vector<Entry>> columns;  // by depth, each from top to bottom
  std::vector<float> row_of;                // by node; negative = hidden
  std::vector<float> column_width;          // by depth: the widest of `width`
  float rows = 0;                           // height of the whole picture

  bool shows(std::int32_t node) const {
    return node >= 0 && node < static_cast<std::int32_t>(row_of.size()) &&
           row_of[static_cast<std::size_t>(node)] >= 0;
  }
};

// `nodes`: index = id, parents first. `folded(node)`: hide what is below it. `hidden(node)`: leave
// it out with all below it; its parent carries the count. `width(node)`: of its label, any unit.
TrieLayout layout_trie(std::span<const capture::NodeRow> nodes,
                       const std::function<bool(std::int32_t)>& folded,
                       const std::function<bool(std::int32_t)>& hidden,
                       const std::function<float(std::int32_t)>& width);

}  // namespace triescope::viz
