// Drafter: the part of a method that hangs draft nodes into the tree. One a run; not thread-safe.
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
  std::span<const NodeId> frontier;  // pending nodes the next forward begins with, best first
  const RunContext& run;
  Rng& rng;
  int room = 0;  // at most this many draft levels fit before max_new_tokens or the context ends
  // Likewise of probes: they are never text, so the context alone bounds them.
  int probe_room = 0;
  std::stop_token stop = {};  // for drafters that run a model: stopping is Error{kCancelled}
  // Asked where such a model is refused memory; a TreeRunner has it already.
  MemoryWait memory = {};
};

// What a draft phase proposes. Nodes come from tree.hang() and hang_probe(); parents before
// children.
struct Drafts {
  // Go through the target's forward. Probes do as well: read() finds their rows in the view, nothing
  // is decided about them, they are not counted as drafted, and their KV is free after the step.
  std::vector<NodeId> sent;
  std::vector<NodeId>
      withdrawn;        // proposed, then left out of the forward; they have no child in `sent`
  Proposals proposals;  // of drafts that were drawn at random
  // Best tokens of the rows of a model of its own; tick and owner are filled in by the step.
  std::vector<capture::CandidateRow> candidates;
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  virtual Drafts draft(DraftContext& context) = 0;
  // After every step, prefill included, once it is decided and before the next draft().
  virtual void read(const StepView& view) { (void)view; }
  // Hidden states of the target that read() looks at: ids as in ForwardBatch::feature_layers. Asked
  // for once. At prefill they are there for every position of the text.
  virtual std::vector<std::int32_t> feature_layers() const { return {}; }
  // The model that it runs over the same tree, for figures and the capture; null = none.
  virtual TreeRunner* runner() { return nullptr; }
  // What its probes read in place of tokens (core/runner/tree_runner.h); null = their tokens.
  virtual const MaskInputs* masks() const { return nullptr; }
  // What a user should know of how drafting goes, once it shows; "" = nothing.
  virtual std::string warning() const { return ""; }
};

}  // namespace triescope
