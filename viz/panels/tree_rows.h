// The yield of the drafting tree as rows: of its places, and of the best tree.
#pragma once

#include <string>
#include <vector>

#include "viz/query/tree_yield.h"

namespace triescope::viz {

// Header line and a row a place: path,tree,sent,accepted,earned,reached,came,share,best,
// tokens_per_forward. `best`: its number in the best tree, from 1; then the tokens a forward that
// the tree up to it promises.
std::string tree_yield_csv(const TreeYield& yield, const std::vector<BestTreeNode>& best);
// "Best tree of 4 drafts: 1, 2, 1.1, 2.1: 2.50 tokens a forward; those sent gave 2.00", for as many
// drafts as a step sent on average; "" if no draft came true.
std::string best_tree_text(const TreeYield& yield);
// The setting "tree" of it: "0;0,0;1".
std::string tree_setting(const std::vector<BestTreeNode>& best);

}  // namespace triescope::viz
