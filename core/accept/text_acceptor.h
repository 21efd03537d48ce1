// TextAcceptor: the acceptor of every method that writes one text, with drafts or without. It
// applies processors and warpers, lets a verification rule (verify.h) decide over the step's
// drafts, and turns the outcome into the next frontier, verdicts and candidates. Plain decoding is
// the same with no drafts: one row, one token.
//
// The token after the accepted drafts is kCorrected where drafts hung in its place and were
// refused, kBonus after at least one accepted draft with none below it, else plainly kGreedy or
// kSampled.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/accept/verify.h"
#include "core/method/method.h"

namespace triescope {

class TextAcceptor final : public Acceptor {
 public:
  using ProposalOf = std::function<const Proposal*(NodeId)>;

  // Settings read: those of LogitsProcessors, Warpers and verify_parameters(), and "candidates".
  // `proposal_of`: for sampled drafts, see VerifyInput::proposal.
  TextAcceptor(const RunContext& run, VerifyRule rule, ProposalOf proposal_of = {});

  AcceptResult accept(AcceptContext& context) override;
  std::vector<FinishedSequence> results(const TokenTree& tree,
                                        const RunContext& run) const override;

 private:
  LogitsProcessors processors_;
  Warpers warpers_;
  VerifyRule rule_;
  ProposalOf proposal_of_;
  Sampler sampler_ = Sampler::kSoftmax;
  float typical_epsilon_ = 0.09f, typical_delta_ = 0.3f;
  int accept_top_k_ = 1;
  int candidates_ = 10;
  std::vector<FinishedSequence> finished_;
  NodeId last_;  // the newest node of the text
};

// The rule that the settings' "verify" names, for drafts that were not drawn at random: greedy,
// sample, typical, top_k.
VerifyRule deterministic_rule(const nlohmann::json& settings);
// "verify" and what its choices need: sampling (warpers, sampler), typical, top_k.
std::vector<Parameter> verify_parameters();
// "sampler": how one token is drawn.
Parameter sampler_parameter();

}  // namespace triescope
