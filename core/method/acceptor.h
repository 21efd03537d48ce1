// Acceptor: the part of a method that reads a step's rows, settles every pending candidate and
// names the next frontier. A probe has only its row: no verdict, and no place in a frontier, a text
// or a count. Each run has one acceptor; not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/rng.h"
#include "core/capture/records.h"
#include "core/method/step_view.h"

namespace triescope {

struct FinishedSequence {
  NodeId node;                 // its last node
  float score = 0;             // after the length penalty; NaN where the method has none
  const char* finish = "eos";  // "eos" or "length"
};

// A preview of a step's rows, before anything is decided; ticks may stay 0.
struct Outlook {
  std::vector<capture::CandidateRow> candidates;  // best tokens of the rows that matter
  std::vector<capture::StageRow> stages;          // what sampling would make of them
};

struct AcceptResult {
  // The next pending nodes, best first; empty = the run is over. A node that has a row in this step
  // goes through the next forward again.
  std::vector<NodeId> frontier;
  std::vector<capture::VerdictRow> verdicts;  // ticks may stay 0: the step fills them in
  // Best tokens of rows that matter and that preview() has not reported; ticks may stay 0.
  std::vector<capture::CandidateRow> candidates;
  std::vector<capture::StageRow> stages;   // what the tokens were drawn from; ticks may stay 0
  std::vector<std::int32_t> emitted;       // tokens that became text (beams: the best one's newest)
  std::vector<FinishedSequence> finished;  // finished in this step
  int drafted = 0, accepted = 0;
};

class Acceptor {
 public:
  virtual ~Acceptor() = default;
  // How many of a row's best tokens, with its log-sum-exp, the next step usually looks at: on a GPU
  // no more of a row is copied to the host. 0 = whole rows. Asked before every forward.
  virtual int best_tokens() const { return 0; }
  // Called between the forward and accept() with the same view, where somebody records it: for
  // those who watch what is about to be decided. It decides nothing and draws no random number.
  virtual Outlook preview(const StepView& view) {
    (void)view;
    return {};
  }
  // Sets logprob and score of the nodes that it learned about, and hangs the new frontier into the
  // tree.
  virtual AcceptResult accept(const StepView& view, Rng& rng) = 0;
  // The returned sequences, best first, once the run is over (or those so far, if it was stopped).
  virtual std::vector<FinishedSequence> results(const TokenTree& tree) const = 0;
};

}  // namespace triescope
