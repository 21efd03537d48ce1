// BeamGuide: what guesses how the live beams of a search go on, several nodes at once: a draft model, a draft
// head with layers, or the text itself. A guide says log q of what follows a node; what becomes of that is the
// drafter's business. Not thread-safe.
//
//   draft model   its own rows, over its own KV of all beams
//   draft head    the same, from the target's hidden states (EAGLE's kinds)
//   text          what followed the longest ending of a beam where it stood earlier in that beam: q is the
//                 share of each token among all such places
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/method/drafter.h"

namespace triescope {

class BeamGuide {
 public:
  virtual ~BeamGuide() = default;
  // Goes on to the frontier, whose nodes are then the guide's rows, in order. False: it cannot follow.
  virtual bool advance(DraftContext& context) = 0;
  // Runs drafts below the rows so far; then these are the rows.
  virtual void forward(DraftContext& context, std::span<const NodeId> drafts) = 0;
  // How many levels below the frontier it can guess, the one from the frontier's own rows included.
  virtual std::size_t levels(const DraftContext& context) const = 0;
  // The likeliest tokens of a row with log q, best first; at most `count`, none of them impossible or beyond
  // the target's vocabulary.
  virtual std::vector<std::pair<float, std::int32_t>> best(int row, std::size_t count) const = 0;
  // log q of every token [vocab of the target]; -infinity = never. Empty: nothing is known.
  virtual std::vector<float> logprobs(int row) const = 0;

  // Drafter's, which hands them on.
  virtual void observe(const StepView& view) { (void)view; }
  virtual std::vector<std::int32_t> feature_layers() const { return {}; }
  virtual TreeRunner* runner() { return nullptr; }
};

// The best tokens of a guide's row with log q, for the capture; `taken`: those that became drafts.
void show_guide_row(NodeId node, std::span<const std::pair<float, std::int32_t>> best,
                    std::span<const std::int32_t> taken, std::vector<capture::CandidateRow>& out);

// The run's draft head or draft model guides where there is one, else the text, whose endings are looked for
// from `max_matching_ngram_size` tokens down to 1.
std::unique_ptr<BeamGuide> make_beam_guide(const RunContext& run);

}  // namespace triescope
