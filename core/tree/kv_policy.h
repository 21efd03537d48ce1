// KV policies: what happens to the slots of dead nodes. One policy a file:
//
//   batch    batch.cpp    every beam has a whole cache of its own, reordered each step:
//                         conventional beam search
//   keep     keep.cpp     nothing; garbage stays (the trie paper without its garbage collection)
//   compact  compact.cpp  every g steps: mark, prune, gather the survivors (the trie paper)
//   recycle  recycle.cpp  a dead slot goes to a free list and the next node takes it; nothing is
//                         ever copied
//
// A policy gives slots to the rows of a forward, says which slots each row sees, and cleans up in
// commit. Where all of a model's layers have a sliding window, a node that is out of every window
// is treated like a dead one: recycle reuses its slot, keep and compact hold it as garbage (compact
// until it collects), batch drops it from every cache. Nothing here walks all ancestors of a node:
// a child's list of visible slots is its parent's list plus its own slot. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tree/kv_policy_kind.h"
#include "core/tree/slot_store.h"
#include "core/tree/token_tree.h"

namespace triescope {

// Where the rows of a forward go and what they see. The vectors are those of a ForwardBatch
// (core/model/model.h).
struct Placement {
  std::vector<std::int32_t> slots;         // [rows]
  std::vector<std::int32_t> prefix_slots;  // all rows see them; in path order
  // Beside these, row r sees own_slots[own_offsets[r] .. own_offsets[r+1]).
  std::vector<std::int32_t> own_slots;
  std::vector<std::int32_t> own_offsets;  // [rows + 1]
};

// The outcome of a step as far as a policy needs it.
struct Committed {
  // Nodes whose KV no live path needs any more, and nodes that will go through a forward again;
  // children before parents.
  std::span<const NodeId> dropped = {};
  std::span<const NodeId> frontier = {};  // the next pending nodes, best first
  std::int32_t step = 0;
  // Positions below this one are out of every window for all rows to come: their slots are dropped
  // like those of dead nodes, the prompt's too. It never falls, and is 0 where some layer sees
  // everything.
  std::int32_t horizon = 0;
};

class KvPolicy {
 public:
  virtual ~KvPolicy() = default;
  // Called first. Takes slots for the prompt and for the chain of pending nodes below it (a
  // branched session's path, else none), and returns them in order: [prompt tokens + path].
  // `skipped`: number of tokens at the prompt's front that the model does not run (a draft head's
  // first).
  virtual std::vector<std::int32_t> place_prefix(const TokenTree& tree,
                                                 std::span<const NodeId> path,
                                                 std::int32_t skipped = 0) = 0;
  // Takes slots for pending rows, parents before children. Each row hangs below a row that was
  // placed since the last commit, or below a parent of that commit's frontier.
  virtual Placement place(const TokenTree& tree, std::span<const NodeId> rows) = 0;
  // Frees, marks or moves slots. Afterwards the KV of the frontier's ancestors is in place.
  virtual void commit(const TokenTree& tree, const Committed& step) = 0;
};

struct KvPolicyOptions {
  KvPolicyKind kind = KvPolicyKind::kRecycle;
  std::int32_t gc_every = 15;  // for compact
  std::int32_t beams = 1;      // for batch: number of caches
};
// The store is borrowed and must outlive the policy.
std::unique_ptr<KvPolicy> make_kv_policy(const KvPolicyOptions& options, SlotStore& store);

}  // namespace triescope
