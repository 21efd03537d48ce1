// RankTree: a static tree of drafts. A node is named by the ranks on its way: "0,2" is the
// third-best token below the best one. The shape is the same in every step; only the tokens differ.
// Plain values. Source: Cai et al., "Medusa", 2024, section 2.1.2; published trees:
// FasterDecoding/Medusa, medusa_choices.py.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/method/drafter.h"
#include "core/model/logits_row.h"

namespace triescope {

struct RankTree {
  struct Node {
    std::size_t parent = 0;  // index in the level above; 0 in the first level, for the pending node
    int rank = 0;
  };
  std::vector<std::vector<Node>> levels;  // from the pending node's children down

  int highest_rank() const;  // 0 for an empty tree
};

// Reads "0;1;0,0;0,1": paths of ranks in any order; blanks are skipped. Error{kInvalidArgument}: a
// path that is malformed, given twice or below no other path (the message names it); a rank above
// 255; more than 1024 nodes; more than `max_levels` levels, whose source `whose` explains ("the
// file's 4 heads").
RankTree parse_rank_tree(std::string_view text, int max_levels, const std::string& whose);
// The setting "tree". Where it is empty: the first paths of the head's own tree
// (HeadConfig::draft_tree), else of `best_first`, parents before children, of at most `max_levels`
// levels and as many as fill a forward at little more than the price of one row.
// Error{kCorruption}: the head's tree is malformed.
RankTree rank_tree_of(const RunContext& run, std::string_view best_first, int max_levels,
                      const std::string& whose);
Parameter tree_parameter(std::string_view best_first);

// Returns a row of logits [vocab] for each parent, at a level counted from 0. The level above has
// been hung.
using LevelRows =
    std::function<std::vector<LogitsRow>(std::size_t level, std::span<const NodeId> parents)>;
// Hangs the tree below the pending node, level by level. `rows` is called once a level, for the
// nodes that have children in the next. Nothing is hung below an EOS or `context.room`, or where
// the vocabulary has too few tokens. `candidates`: how many of a row's best tokens are shown, with
// those that were hung in any case; 0 = none.
Drafts grow_rank_tree(DraftContext& context, const RankTree& tree, std::size_t max_levels,
                      std::size_t candidates, const LevelRows& rows);

// Shows the best tokens of a head's row in the capture. best: logits and tokens, descending;
// log_sum: the row's log-sum-exp; chosen: the ranks that became drafts.
void show_head_row(NodeId node, std::span<const std::pair<float, std::int32_t>> best, float log_sum,
                   std::span<const int> chosen, std::vector<capture::CandidateRow>& out);

}  // namespace triescope
