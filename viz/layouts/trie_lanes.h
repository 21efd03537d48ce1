// Trie lanes: rows for a tree that is watched as it grows. An item keeps its row for good: it is chosen
// from what was there before it alone, as lanes are in the picture of a repository's history. The price is
// that edges may cross, which TrieLayout's rows never do. Pure geometry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace triescope::viz {

// The row of every item. Item i's parent is parents[i] < i; the first item's is -1. Items with equal
// births[i] came at once (births never fall). Of those in one column a first child goes on along its
// parent's row where that is free from its column on; then every other one takes the nearest row that is,
// of two as near the upper one. So a row that a dead branch left is taken again further right. What is
// written behind an item needs its row for behind[i] columns more; `behind` may be empty.
// What follows an item changes nothing: the rows of the first n items are those of the first n alone,
// where n ends with a birth. O(items x rows) at most.
std::vector<std::int32_t> trie_lanes(std::span<const std::int32_t> parents,
                                     std::span<const std::int64_t> births,
                                     std::span<const std::int32_t> behind = {});

}  // namespace triescope::viz
