// The dynamic tree of EAGLE-2 and EAGLE-3: every step grows it where the head is sure of itself. A
// draft's score is its cumulative log-probability according to the head.
//
//   expand   level 1: the k best children of the pending node. Each next level: the k best drafts
//            of the level before it propose their k best children
//   rerank   the m best of all proposals are sent and the others are withdrawn; of equal scores
//            the one proposed first wins. A parent scores at least as much as its child and was
//            proposed before it, so what is sent is one tree
//
// A draft that already has m better proposals is not expanded: none of its children could be sent.
// Source: Li et al., "EAGLE-2: Faster Inference of Language Models with Dynamic Draft Trees", 2024,
// sections 4.1 and 4.2; SafeAILab/EAGLE, eagle/model/cnets.py, topK_genrate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/method/drafter.h"

namespace triescope {

// `layers`: the target's states that the head reads. `remedy`: what to try where the head is seldom
// right. REQUIRES: run.draft_head has layers.
std::unique_ptr<Drafter> make_dynamic_tree_drafter(const RunContext& run,
                                                   std::vector<std::int32_t> layers,
                                                   std::string remedy);
// The parameters draft_top_k, draft_levels and draft_tokens.
std::vector<Parameter> dynamic_tree_parameters();

}  // namespace triescope
