// Drafter: the part of a method that hangs draft nodes into the tree. Each run has one; not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/memory_wait.h"
#include "core/base/rng.h"
#include "core/capture/records.h"
#include "core/method/step_view.h"

namespace triescope {

class TreeRunner;
struct MaskInputs;

struct DraftContext {
  TokenTree& tree;
  std::span<const NodeId> frontier;  // pending nodes with which the next forward begins, best first
  const RunContext& run;
  Rng& rng;
  int room = 0;  // at most this many draft levels fit before max_new_tokens or the context ends
  // The same for probes: they are never text, so only the context bounds them.
  int probe_room = 0;
  std::stop_token stop = {};  // for drafters that run a model; a stop is Error{kCancelled}
  // Called where such a model is refused memory; a TreeRunner has it already.
  MemoryWait memory = {};
};

// The proposals of a draft phase. The nodes come from tree.hang() and hang_probe(), parents before
// children.
struct Drafts {
  // Nodes that go through the target's forward. Probes do as well: observe() finds their rows in the
  // view, nothing is decided about them, they are not counted as drafted, and their KV is free
  // after the step.
  std::vector<NodeId> sent;
  std::vector<NodeId>
      withdrawn;        // proposed, then left out of the forward; they have no child in `sent`
  Proposals proposals;  // how drafts were drawn that were drawn at random
  // Best tokens of the rows of the drafter's own model; the step fills in tick and owner.
  std::vector<capture::CandidateRow> candidates;
  // Figures of the nodes and lists of the tokens that they come from (core/capture/metric_names.h); the step fills in
  // the tick. Only where RunContext::record_rows asks for them.
  std::vector<capture::MetricRow> figures;
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  virtual Drafts draft(DraftContext& context) = 0;
  // Called after every step, prefill included: once it is decided and before the next draft().
  virtual void observe(const StepView& view) { (void)view; }
  // The target's hidden states that observe() looks at: ids as in ForwardBatch::feature_layers. Asked
  // once. At prefill they are there for every position of the text.
  virtual std::vector<std::int32_t> feature_layers() const { return {}; }
  // How many of a row's best tokens observe() looks at: as Acceptor::best_tokens(), which is asked with it.
  virtual int best_tokens() const { return 1; }
  // The model that the drafter runs over the same tree, for figures and the capture; null = none.
  virtual TreeRunner* runner() { return nullptr; }
  // The vectors that its probes read in place of tokens (core/tree/tree_runner.h); null = their tokens.
  virtual const MaskInputs* masks() const { return nullptr; }
  // A warning to the user about how drafting goes, once it shows; "" = none.
  virtual std::string warning() const { return ""; }
};

}  // namespace triescope
