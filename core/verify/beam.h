// BeamAcceptor: beam search as transformers 5.17.0 does it (generation/utils.py, _beam_search),
// over the token tree. The same acceptor serves trie beam search and conventional batch beam
// search: they differ in their KV policy alone.
//
// The nine rules of parity (tests/unit/verify/test_beam_rules.cpp has a case each):
//   1 log-softmax of fp32 logits, then the logits processors; scores accumulate in fp32
//   2 the first expansion takes its tokens of one beam: the others start at -1e9
//   3 candidates are the best max(2, 1 + EOS tokens) * b of the flat b x vocabulary
//   4 finished = EOS or max_new_tokens; only a candidate ranked below b may finish
//   5 finished score = sum / length^length_penalty; the best b of old and new stay (beam_pool.h)
//   6 live = the best b candidates that did not finish
//   7 early_stopping true, false, never (beam_pool.h)
//   8 at max_new_tokens the live beams finish together
//   9 ties: score descending, then flat index ascending
// With one beam this is greedy decoding, as in transformers: processors come before the softmax,
// and the first EOS ends the search.
//
// Drafts below the beams are verified level by level: while every live beam of a level has a row in
// this forward, the search goes on to the next level at once, with the decisions that it would have
// taken a step each (speculative beam search). Drafts beside the live beams are rejected.
//
// Pruning rules (Freitag and Al-Onaizan 2017; the trie paper) act on the live beams after rule 6,
// and the best beam always stays. The search may start at any node: the frontier's single node is
// where the beams begin (sample-then-beam, branches). Not thread-safe.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/method/method.h"
#include "core/sampling/logits_processors.h"
#include "core/verify/beam_candidates.h"
#include "core/verify/beam_pool.h"

namespace triescope {

class BeamAcceptor final : public Acceptor {
 public:
  // Reads the settings of beam_parameters() and "candidates". Error{kInvalidArgument}:
  // num_return_sequences above num_beams.
  explicit BeamAcceptor(const RunContext& run);

  int best_tokens() const override;
  Outlook preview(const StepView& view) override;
  AcceptResult accept(const StepView& view, Rng& rng) override;
  std::vector<FinishedSequence> results(const TokenTree& tree) const override;

 private:
  // The findings at one level of the search, before anything is decided.
  struct Expansion {
    std::vector<BeamCandidate> candidates;  // rule 3, best first
    // By beam index: the node at which the beam stands (at the start the first one, several times).
    std::vector<NodeId> beams;
    std::vector<float> best_of_beam;           // by beam index: score of its best continuation
    std::vector<capture::CandidateRow> shown;  // best tokens of every row
    std::vector<std::pair<NodeId, std::int32_t>>
        children;  // (parent, token) that went into the tree
  };
  // Takes `live_` through the rows of one level; afterwards `live_` is the next level's.
  void advance(const StepView& view, AcceptResult& result);
  std::size_t wanted() const;  // rule 3: number of candidates at a level
  Expansion expand(const StepView& view) const;
  NodeId hang(const StepView& view, Expansion& expansion, const BeamCandidate& candidate) const;
  void finish(const StepView& view, Expansion& expansion, AcceptResult& result);
  void go_on(const StepView& view, Expansion& expansion, AcceptResult& result);
  // Whether a pruning rule cuts a live beam. If so, fills in the verdict's reason.
  bool is_pruned(const BeamCandidate& beam, float best_score, float best_logprob,
                 capture::VerdictRow& verdict) const;

  LogitsProcessors processors_;
  std::size_t num_beams_;
  std::size_t num_return_sequences_;
  double prune_relative_, prune_absolute_, prune_relative_local_;
  std::size_t candidates_;
  std::size_t end_tokens_;
  FinishedPool pool_;
  std::optional<Expansion> ahead_;  // the next level, where preview() has reported it already
  bool started_ = false, over_ = false;
  std::vector<NodeId> live_;  // the beams, best first
};

// The one of beam_parameters() that says how many texts are kept.
inline constexpr const char* kNumBeams = "num_beams";
// num_beams, length_penalty, early_stopping, num_return_sequences, the pruning rules, the logits
// processors.
std::vector<Parameter> beam_parameters();

}  // namespace triescope
