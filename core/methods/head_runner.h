// HeadRunner: runs a draft head's layers over the token tree and gives each row the hidden state
// that belongs to it. The row of a token at position t + 1 of the text has position t: it pairs
// that token with the target's state at t. The head's text is therefore the target's without its
// first token, and a node reads the state of its parent.
//
//   text     states of the target, as observe() saw them (target_states.h)
//   drafts   the state that the head itself gave at the parent (DraftHead::feedback_layer)
//
// States of drafts never stay: advance() runs what became text again, with the target's states.
// Source: heads of SafeAILab/EAGLE, eagle/model/cnets.py (topK_genrate, stable_kv). Not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/method/drafter.h"
#include "core/methods/target_states.h"
#include "core/model/heads/draft_head.h"
#include "core/tree/tree_runner.h"

namespace triescope {

class HeadRunner {
 public:
  // `layers`: the target's states that the head reads, in order. REQUIRES: head.layers, a prompt.
  HeadRunner(DraftHead& head, std::vector<std::int32_t> layers, const RunContext& run);

  // Keeps what the head will need of a step; Drafter::observe() calls it.
  void observe(const StepView& view) { target_.observe(view); }
  // Runs the new part of the texts, the pending nodes last; afterwards every pending node has a row, in the
  // frontier's order. False: the head cannot follow a text any further.
  bool advance(DraftContext& context);
  // Runs drafts below rows that exist since advance(); afterwards they have rows.
  void forward(const DraftContext& context, std::span<const NodeId> drafts);
  // How many levels below the pending nodes may be run.
  std::size_t levels_below(const DraftContext& context) const;

  // The rows of the last call.
  LogitsRow logits(int row) const { return runner_.logits(row); }
  std::span<const float> state(int row) const { return runner_.feature(row, feedback_); }
  TreeRunner& runner() { return runner_; }

 private:
  void keep_states();
  std::span<const float> input_of(const TokenTree& tree, NodeId node, std::int32_t position) const;

  // The token that a row reads where it is not its own (formats::HeadReading::own_token).
  std::int32_t token_before(const TokenTree& tree, NodeId node, std::int32_t position) const;

  TargetStates target_;
  std::int32_t feedback_;
  std::span<const std::int32_t> prompt_;
  bool own_token_;
  TreeRunner runner_;
  std::int32_t kept_depth_ = 0;  // nodes at most this deep have KV from the target's states
  std::unordered_map<NodeId, std::vector<float>>
      drafted_states_;  // the head's own, by the node that gave them
};

}  // namespace triescope
