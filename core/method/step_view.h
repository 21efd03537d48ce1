// StepView: what a step computed, read by acceptor and drafter alike. Row i of the forward belongs
// to rows[i]: the frontier's nodes first, then the drafts that were sent; at prefill there is one
// row, that of the frontier. A draft model's drafter reads its own model's rows through one too.
//
// Borrows everything it points to: valid until the model's next forward.
#pragma once

#include <cstdint>
#include <span>

#include "core/method/proposal.h"
#include "core/method/run_context.h"
#include "core/runner/step_rows.h"
#include "core/tree/token_tree.h"

namespace triescope {

struct StepView {
  TokenTree& tree;
  const RunContext& run;
  std::span<const NodeId> rows;
  std::span<const NodeId> frontier;      // that the step began with, best first
  int step = 0;                          // 0 = prefill
  const StepRows& computed;              // what the forward gave, by the row's index
  const Proposals* proposals = nullptr;  // of the drafts; null = none were drawn at random
  // Once the step is decided: what the next one begins with, and the nodes from this frontier down
  // to its best node, which ends the text so far: accepted drafts, then the newest token. Both
  // empty once the run is over.
  std::span<const NodeId> next_frontier = {};
  std::span<const NodeId> text = {};

  LogitsRow logits(int row) const { return computed.logits(row); }
  // Hidden states; `layer` is one of Drafter::feature_layers().
  std::span<const float> feature(int row, std::int32_t layer) const {
    return computed.feature(row, layer);
  }
  // At prefill: of every position of the text, the prompt's first.
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
