// StepView: what a step computed, for acceptor and drafter alike. Row i of the forward belongs to
// rows[i]: the frontier's nodes first, then the drafts that were sent; at prefill the frontier's
// row is the only one. A draft model's drafter reads its own model's rows through a StepView too.
//
// Borrows everything that it points to: valid until the model's next forward.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/method/distribution.h"
#include "core/method/run_context.h"
#include "core/tree/step_rows.h"
#include "core/tree/token_tree.h"

namespace triescope {

// How the drafts below one node were drawn, where that was at random: q, and the draws in their order. A
// token that was drawn twice appears twice (its node is shared).
struct Proposal {
  Distribution q;
  std::vector<NodeId> draws;
  bool replacement = true;  // drawn with replacement
};

using Proposals = std::unordered_map<NodeId, Proposal>;  // by the node below which they hang

struct StepView {
  TokenTree& tree;
  const RunContext& run;
  std::span<const NodeId> rows;
  std::span<const NodeId> frontier;  // the frontier with which the step began, best first
  int step = 0;                      // 0 = prefill
  const StepRows& computed;          // the forward's results, by the row's index
  // how the drafts were drawn; null = none were drawn at random
  const Proposals* proposals = nullptr;
  // Set once the step is decided: next_frontier is what the next step begins with, and the nodes
  // from this frontier down to its best node end the text so far: accepted drafts, then the newest
  // token. Both are empty once the run is over.
  std::span<const NodeId> next_frontier = {};
  std::span<const NodeId> text = {};

  LogitsRow logits(int row) const { return computed.logits(row); }
  // A row's hidden state; `layer` is one of Drafter::feature_layers().
  std::span<const float> feature(int row, std::int32_t layer) const {
    return computed.feature(row, layer);
  }
  // At prefill: the hidden state of any position of the text, the prompt's first.
  std::span<const float> feature_at(std::int32_t position, std::int32_t layer) const {
    return computed.feature_at(position, layer);
  }

  int row_of(NodeId id) const {  // -1 = none
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i] == id) return static_cast<int>(i);
    return -1;
  }
  const Proposal* proposal(NodeId below) const {
    if (!proposals) return nullptr;
    const auto at = proposals->find(below);
    return at == proposals->end() ? nullptr : &at->second;
  }
};

}  // namespace triescope
