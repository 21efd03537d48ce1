// TextAcceptor: the acceptor of every method that writes one text, with drafts or without. It
// applies processors and warpers, lets a verification rule (verify.h) decide over the step's
// drafts, and turns the outcome into the next frontier, verdicts and candidates. Plain decoding is
// the case without drafts: one row, one token.
//
// A frontier of several nodes is a forest: every node ends a text of its own, the rule runs over
// each node with the drafts below it, and the texts keep their order.
//
// The token after the accepted drafts is kCorrected where drafts hung in its place and were
// refused, kBonus after at least one accepted draft with none below it, and otherwise kGreedy or
// kSampled.
#pragma once

#include <unordered_set>
#include <vector>

#include "core/method/method.h"
#include "core/verify/verify.h"

namespace triescope {

class TextAcceptor final : public Acceptor {
 public:
  // Reads the settings of LogitsProcessors, Warpers and verify_parameters(), and "candidates".
  TextAcceptor(const RunContext& run, VerifyRule rule);

  int best_tokens() const override;
  Outlook preview(const StepView& view) override;
  AcceptResult accept(const StepView& view, Rng& rng) override;
  std::vector<FinishedSequence> results(const TokenTree& tree) const override;

 private:
  // Whether tokens are drawn at random from what the warpers leave.
  bool draws() const;
  struct Text {
    FinishedSequence end;  // its newest node; finish is "stopped" while the text goes on
    bool goes_on = true;
  };
  // Decides one text's step: what follows `root`, with `drafts` below it. Returns where the text
  // ends now.
  Text verify(const StepView& view, Rng& rng, ModelRows& rows, NodeId root,
              std::span<const NodeId> drafts, AcceptResult& result) const;

  LogitsProcessors processors_;
  Warpers warpers_;
  VerifyRule rule_;
  Sampler sampler_;
  float typical_epsilon_, typical_delta_;
  int accept_top_k_;
  int candidates_;
  std::unordered_set<NodeId> shown_;  // nodes whose rows preview() has reported
  std::vector<Text> texts_;           // those that go on are in the frontier's order
};

// The rule that the settings' "verify" names, for drafts that were not drawn at random
// (rule_table.h).
VerifyRule deterministic_rule(const Settings& settings);
// The parameter "verify" and those that its choices need: sampling (warpers, sampler), typical,
// top_k.
std::vector<Parameter> verify_parameters();
// The parameter "sampler": how a token is drawn. sampler_of() reads it; without it, softmax.
Parameter sampler_parameter();
Sampler sampler_of(const Settings& settings);

}  // namespace triescope
