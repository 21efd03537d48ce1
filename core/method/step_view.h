// StepView: what a step computed, read by acceptor and drafter alike. Row i of the forward belongs
// to rows[i]: the frontier's nodes first, then the drafts that were sent; at prefill there is one
// row, that of the frontier. A draft model's drafter reads its own model's rows through one too.
//
// Borrows everything it points to: valid until the model's next forward.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/method/proposal.h"
#include "core/method/run_context.h"
#include "core/model/logits_row.h"
#include "core/tree/token_tree.h"

namespace triescope {

struct StepView {
  TokenTree& tree;
  const RunContext& run;
  std::span<const NodeId> rows;
  std::span<const NodeId> frontier;  // that the step began with, best first
  int step = 0;                      // 0 = prefill
  // Raw fp32 logits [vocab] of a row.
  std::function<LogitsRow(int row)> logits;
  // Hidden state [hidden] of a row; `layer` is one of Drafter::feature_layers().
  std::function<std::span<const float>(int row, std::int32_t layer)> feature = {};
  // At prefill: the same of every position of the text, the prompt's first.
  std::function<std::span<const float>(std::int32_t position, std::int32_t layer)> feature_at = {};
  const Proposals* proposals = nullptr;  // of the drafts; null = none were drawn at random
  // Once the step is decided: what the next one begins with, and the nodes from this frontier down
  // to its best node, which ends the text so far: accepted drafts, then the newest token. Both
  // empty once the run is over.
  std::span<const NodeId> next_frontier = {};
  std::span<const NodeId> text = {};

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
