// RowProposer: makes drafts of rows of a drafter's own, one below a node: the row's best token, or one drawn from the
// row's distribution where the verification rule draws. Processors and warpers are applied with the text up to the
// node. The row of a node may be known before the node is.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/method/drafter.h"
#include "core/model/logits_row.h"
#include "core/sampling/model_rows.h"
#include "core/verify/verify.h"

namespace triescope {

// The part of a row that drafts are made of.
struct GuessRow {
  std::vector<float> logits;  // [vocab], where the row is warped or drawn from
  std::vector<std::pair<float, std::int32_t>> best;  // logits and tokens, descending; at least one
  float log_sum = 0;                                 // log-sum-exp of the row
};

class RowProposer {
 public:
  // Reads the settings of LogitsProcessors and Warpers, "verify", "sampler" and "candidates".
  explicit RowProposer(const RunContext& run);

  // Whether drafts are drawn.
  bool draws() const { return draws_; }
  // How many of a row's best tokens are looked at; 0 = whole rows.
  int best_tokens() const;
  GuessRow guess_of(const LogitsRow& row) const;
  // Hangs a draft below `parent` and tells of it: sent, its proposal, the row's candidates.
  NodeId propose(DraftContext& context, NodeId parent, const GuessRow& guess, Drafts& drafts) const;

 private:
  LogitsProcessors processors_;
  Warpers warpers_;
  bool draws_;
  Sampler sampler_;
  std::size_t candidates_;
};

// The rule that "verify" names for a chain of such drafts.
VerifyRule drawn_chain_rule(const Settings& settings);

}  // namespace triescope
