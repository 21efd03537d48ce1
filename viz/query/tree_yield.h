// What each place of the drafting tree earned, and the tree of n nodes that would have earned most:
// of all the drafts that were proposed, sent or withdrawn, along the text that came. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/rank_paths.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

struct TreePlaceYield {
  RankPath path = {};
  std::int64_t sent = 0;      // steps in which a draft stood there and was verified
  std::int64_t accepted = 0;  // of these, where it became text
  // Steps in which a draft was proposed there below the frontier or below a draft that came true,
  // and the text is known that far; of these, where it came true.
  std::int64_t reached = 0, came = 0;
  // Tokens that a row there gave.
  double earned() const {
    return sent ? static_cast<double>(accepted) / static_cast<double>(sent) : 0;
  }
  // P(it comes true | the one above it did).
  double share() const {
    return reached ? static_cast<double>(came) / static_cast<double>(reached) : 0;
  }
};

struct TreeYield {
  std::int64_t steps = 0;                   // with drafts
  std::vector<TreePlaceYield> places = {};  // parents first, by ranks
};

// Counts the steps in `range`, as far as the cursor has seen them.
TreeYield tree_yield(const capture::Capture& capture, capture::Tick cursor, StepRange range = {});
void add_tree_yield(TreeYield& sum, const TreeYield& more);

// Grows a tree node by node, each time by the one that most likely comes true: the product of the
// shares along its path. For given shares no tree of that size has more on average. The tokens a
// forward that this promises are 1 + the sum of the products. Source: Cai et al., 2024,
// arXiv 2401.10774, section 2.3.3; Chen et al., "Sequoia", 2024, finds such trees by dynamic programming where a
// node's share depends on its rank alone.
struct BestTreeNode {
  RankPath path = {};
  double comes_true = 0;          // the product
  double tokens_per_forward = 0;  // of the tree up to here
};
std::vector<BestTreeNode> best_tree(const TreeYield& yield, std::size_t nodes);

}  // namespace triescope::viz
