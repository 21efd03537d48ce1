// `triescope acceptance --best-tree N`: what each place of the drafting tree earned, and the tree
// of N drafts that would have earned the most.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "viz/query/tree_yield.h"

namespace triescope::app {

nlohmann::ordered_json tree_yield_json(const viz::TreeYield& yield, std::size_t nodes);

enum class TreeFormat { kText, kJson, kCsv };
void print_tree_yield(const viz::TreeYield& yield, std::size_t nodes, TreeFormat format);

}  // namespace triescope::app
