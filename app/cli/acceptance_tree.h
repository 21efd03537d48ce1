// `triescope acceptance --best-tree N`: what each place of the drafting tree earned, and the tree
// of N drafts that would have earned the most.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "viz/query/tree_yield.h"

namespace triescope::app {

// `best`: best_tree() of the yield.
nlohmann::ordered_json tree_yield_json(const viz::TreeYield& yield,
                                       const std::vector<viz::BestTreeNode>& best);

enum class TreeFormat { kText, kJson, kCsv };
void print_tree_yield(const viz::TreeYield& yield, const std::vector<viz::BestTreeNode>& best,
                      TreeFormat format);

}  // namespace triescope::app
