// Trie lanes: rows for a tree that is watched as it grows. An item keeps its row for good, because
// the row depends only on what was there before, like the lanes in the picture of a repository's
// history. The price is that edges may cross, which TrieLayout's rows never do. Pure geometry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace triescope::viz {

// The row of every item. Item i's parent is parents[i] < i; the first item's is -1. Items with
// equal births[i] came at once (births never fall). Of those in one column, a first child continues
// along its parent's row where that is free from its column on; then every other item takes the
// nearest free row, and of two equally near ones the upper. A row that a dead branch left is
// therefore taken again further right. Text behind an item needs its row for behind[i] more
// columns; `behind` may be empty.
// Later items change nothing: the rows of the first n items do not depend on the others, where n
// ends with a birth. O(items x rows) at most.
std::vector<std::int32_t> trie_lanes(std::span<const std::int32_t> parents,
                                     std::span<const std::int64_t> births,
                                     std::span<const std::int32_t> behind = {});

}  // namespace triescope::viz
