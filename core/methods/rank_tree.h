// RankTree: a static tree of drafts, a node named by the ranks on its way: "0,2" is the third-best
// token below the best one. The same shape in every step; only the tokens differ. Plain values.
// Source: Cai et al., "Medusa", 2024, section 2.1.2; published trees: FasterDecoding/Medusa,
// medusa_choices.py.
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
    std::size_t parent = 0;  // index in the level above; of the first level: 0, the pending node
    int rank = 0;
  };
  std::vector<std::vector<Node>> levels;  // from the children of the pending node down

  int highest_rank() const;  // 0 of an empty tree
};

// "0;1;0,0;0,1": paths of ranks in any order; blanks are skipped. Error{kInvalidArgument}: which
// path is not one, stands twice or hangs below none; a rank above 255; more than 1024 nodes; more
// than `max_levels` levels, which `whose` explains ("the file's 4 heads").
RankTree parse_rank_tree(std::string_view text, int max_levels, const std::string& whose);
// The setting "tree"; where it is empty, the first paths of the head's own tree
// (HeadConfig::draft_tree), else of `best_first`, parents before children: those that are at most
// `max_levels` long, as many as fill a forward at little more than the price of one row.
// Error{kCorruption}: the head's tree is not one.
RankTree rank_tree_of(const RunContext& run, std::string_view best_first, int max_levels,
                      const std::string& whose);
Parameter tree_parameter(std::string_view best_first);

// One row of logits [vocab] for each parent, at a level counted from 0; the level above has been
// hung.
using LevelRows =
    std::function<std::vector<LogitsRow>(std::size_t level, std::span<const NodeId> parents)>;
// Hangs the tree below the pending node, level by level, `rows` asked once a level for the nodes
// that have children in the next. Nothing hangs below an EOS, below `context.room`, or where the
// vocabulary has not that many tokens. `candidates`: the best tokens of each row that are shown,
// those hung in any case; 0 = none.
Drafts grow_rank_tree(DraftContext& context, const RankTree& tree, std::size_t max_levels,
                      std::size_t candidates, const LevelRows& rows);

// Shows the best tokens of a head's row in the capture. best: logits and tokens, descending;
// log_sum: the row's; `chosen`: the ranks that became drafts.
void show_head_row(NodeId node, std::span<const std::pair<float, std::int32_t>> best, float log_sum,
                   std::span<const int> chosen, std::vector<capture::CandidateRow>& out);

}  // namespace triescope
