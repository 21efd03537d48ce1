// TreeRunner: one model that runs over a token tree. It holds everything that a forward needs
// beside the tree: KV slots and their policy, sliding windows, ropes that change with the length of
// the text, prefill in pieces, and the newest rows. A session owns one for the target, and a draft
// model owns another over the same tree; the nodes' slots therefore lie here and not in the tree.
//
//   prefill()   the prompt, and a chain of nodes below it
//   forward()   pending nodes, drafts below them included: logits and features of every row
//   commit()    hands KV that is no longer needed to the policy
//   advance()   all three for a model that follows one text: goes on to a later node
//
// A draft head reads a hidden state beside every token (read_inputs_from()), and its text lacks the
// prompt's first token: the runner's prompt may be the end of the tree's prompt, and positions
// count from its own start.
//
// With MaskInputs every probe is a mask: the j-th of a chain of probes reads the j-th vector in place of
// its token, and sees the prefix's KV beside its path. The prefix lies in the storage's first slots,
// before those of the store, so no policy moves it and no other row's list holds it.
//
// Features are hidden states (ForwardBatch::feature_layers); read_features() names the layers once.
// With ModelInfo::kv_valid_until, the KV of everything that rows see is recomputed in place once a
// row lies beyond that length; levels_below() keeps the levels of a draft on one side of it.
//
// Borrows the model and the prompt and, in every call, the tree, which must be the same one. Where
// memory is refused, the runner calls wait_for_memory()'s function and tries the same forward,
// growth, move or fetch of a row again. After an Error the runner must not be used again, because
// slots may lack their KV. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/base/memory_wait.h"
#include "core/capture/records.h"
#include "core/model/mask_inputs.h"
#include "core/model/model.h"
#include "core/tree/kv_policy.h"
#include "core/tree/step_rows.h"
#include "core/tree/token_tree.h"
#include "core/tree/waiting_logits.h"

namespace triescope {

// A step's outcome for the KV; the spans are as in Committed (kv_policy.h).
struct StepOutcome {
  std::span<const NodeId> dropped = {}, frontier = {};
  std::int32_t step = 0;
};

// The costs of running so far; KV peaks are in tokens.
struct RunnerFigures {
  std::int64_t forwards = 0, rows = 0;
  std::int32_t peak_live = 0, peak_garbage = 0, peak_reserved = 0;
  std::int32_t peak_held = 0;  // live and garbage at once
  // Counts of a mixture over all forwards but prefills: these forwards, their layers that have experts, and
  // the different experts that each of these layers reads.
  std::int64_t expert_forwards = 0, expert_layers = 0, experts_read = 0;
};

class TreeRunner final : public StepRows {
 public:
  // `record`: keep inputs and slot events for take_inputs() and take_slot_events(). `masks`: what
  // probes read, borrowed; null: their tokens. Error: KvStorage::write's.
  TreeRunner(Model& model, std::span<const std::int32_t> prompt, const KvPolicyOptions& kv,
             bool record, const MaskInputs* masks = nullptr);

  void wait_for_memory(const MemoryWait& wait);

  const ModelInfo& info() const { return model_.info(); }
  const Model& model() const { return model_; }

  // Names the layers whose hidden states are wanted from now on, for every row and for every
  // position of prefill().
  void read_features(std::vector<std::int32_t> layers) { feature_layers_ = std::move(layers); }

  // Says how many of a row's best tokens are usually looked at: ForwardBatch::best_tokens from now
  // on.
  void read_best(int tokens) { best_tokens_ = tokens; }

  // Gives the hidden state that a row reads beside its token, [width], the same width for all rows
  // of a forward: ForwardBatch::input_features. `node` is none for a token of the prompt.
  // `position` is the row's own.
  using FeatureSource = std::function<std::span<const float>(NodeId node, std::int32_t position)>;
  void read_inputs_from(FeatureSource source) { input_source_ = std::move(source); }

  // Gives the token that a row reads in place of its own, which it is told. `node` and `position` as
  // above.
  using TokenSource =
      std::function<std::int32_t(NodeId node, std::int32_t position, std::int32_t token)>;
  void read_tokens_from(TokenSource source) { token_source_ = std::move(source); }

  // Called first. Runs the prompt, then `path`, a chain of pending nodes that hangs below it (may
  // be empty). Afterwards there is one row: that of the last node of `path`, else the root's.
  // `before_last`, where given, sees the logits [vocab] of the row before it.
  using LogitsSink = std::function<void(const LogitsRow&)>;
  void prefill(const TokenTree& tree, std::span<const NodeId> path, std::stop_token stop,
               const ProgressSink& progress = {}, const LogitsSink& before_last = {});

  // In place of prefill(), before advance(): takes over the KV of prompt and `path`, a chain below the root,
  // from a runner of the whole model, of which this runner's model is a part with KV of `layers`. Nothing is
  // run, and no row is there afterwards. May be called again, for a longer path or to have
  // the whole model's KV once more: what has a slot here is taken over again. Returns false, with nothing done, where the other
  // has not all of that KV (windows), where its KV will be recomputed (ropes that change) or where the
  // storages cannot (KvCopies).
  bool take_over(const TokenTree& tree, std::span<const NodeId> path, const TreeRunner& whole,
                 std::span<const std::int32_t> layers);

  // One forward over pending nodes, parents before children. Each hangs below a row since the last
  // commit, or below a parent of that commit's frontier. Afterwards row i is that of rows[i].
  // Errors: those of Model::forward.
  void forward(const TokenTree& tree, std::span<const NodeId> rows, std::stop_token stop);

  void commit(const TokenTree& tree, const StepOutcome& outcome);

  // Goes on to `nodes`, which lie on one level: one text, or several beams. The first call prefills. Later
  // calls drop the KV of all nodes that are not above these and run the nodes of their paths that have none,
  // `nodes` themselves in any case. Afterwards there is a row of each of `nodes`. Nodes deeper than
  // `kept_depth` are run again even if they have KV (a head's, from drafted states). REQUIRES: the nodes lie
  // below those of the call before, and follows().
  void advance(const TokenTree& tree, std::span<const NodeId> nodes, std::stop_token stop,
               std::int32_t kept_depth = std::numeric_limits<std::int32_t>::max());
  // The same for one node.
  void advance(const TokenTree& tree, NodeId node, std::stop_token stop,
               std::int32_t kept_depth = std::numeric_limits<std::int32_t>::max()) {
    advance(tree, std::span<const NodeId>(&node, 1), stop, kept_depth);
  }
  // Position of a node in this runner's text.
  std::int32_t position(const TokenTree& tree, NodeId node) const {
    return static_cast<std::int32_t>(prompt_.size()) + tree[node].depth - 1;
  }
  // Whether the model has every token of the text up to `node`, and its position.
  bool follows(const TokenTree& tree, NodeId node) const;
  // How many levels below `node` may be run before the next commit, given the context and the
  // length at which the rope changes; 0 = none.
  std::int32_t levels_below(const TokenTree& tree, NodeId node) const;

  // --- the rows of the last prefill or forward; valid until the next ---
  std::span<const NodeId> rows() const { return rows_; }
  LogitsRow logits(int row) const override { return output_.row(first_logit_row_ + row); }
  // `layer` was named by read_features().
  std::span<const float> feature(int row, std::int32_t layer) const override;
  // Covers prompt and path, until forget_prefill_features().
  std::span<const float> feature_at(std::int32_t position, std::int32_t layer) const override;
  void forget_prefill_features();  // frees their memory

  const SlotStore& store() const { return *store_; }
  std::vector<capture::SlotRow> take_slot_events() { return store_->take_events(); }
  // The input rows of the forwards since the last call, a vector for each forward; the caller fills
  // in the step.
  std::vector<std::vector<capture::InputRow>> take_inputs() { return std::exchange(inputs_, {}); }
  // The experts of the rows of the prefill and the forwards since the last call; the caller fills in the
  // tick.
  std::vector<capture::ExpertRow> take_experts() { return std::exchange(experts_, {}); }
  // Positions below this one are out of every window, and their KV has been given up.
  std::int32_t horizon() const { return horizon_; }
  const RunnerFigures& figures() const { return figures_; }

 private:
  void run(ForwardBatch batch, std::span<const NodeId> nodes, std::stop_token stop);
  // The probes at the end of a forward's rows: which vector each reads, in place of `tokens`' last.
  // Error{kInvalidArgument}: a row behind them is no probe, or a chain is longer than there are masks.
  MaskBatch mask_rows(const TokenTree& tree, std::vector<std::int32_t>& tokens) const;
  // The slots of the prompt and of `path`; -1 where one has none.
  std::vector<std::int32_t> slots_of_text(std::span<const NodeId> path) const;
  void recompute_kv(const TokenTree& tree, const Placement& placed, std::stop_token stop);
  void note_inputs(const TokenTree& tree, std::span<const NodeId> nodes,
                   std::span<const std::int32_t> positions, std::span<const std::int32_t> slots,
                   std::int32_t first_naive);
  void note_experts();
  void count_experts();
  void note_peaks();
  std::int32_t horizon_of(const TokenTree& tree, std::span<const NodeId> next) const;
  std::size_t index_of_layer(std::int32_t layer) const;

  Model& model_;
  std::span<const std::int32_t> prompt_;
  KvPolicyOptions kv_options_;
  bool record_;
  const MaskInputs* masks_;
  std::vector<std::int32_t> mask_prefix_;  // the storage's slots that hold the masks' prefix
  std::vector<std::int32_t>
      stored_[3];  // slots of the forward that runs, as the storage counts them
  MemoryWait memory_wait_;
  std::unique_ptr<SlotStore> store_;
  std::unique_ptr<KvPolicy> policy_;
  bool prefilled_ = false;

  std::vector<NodeId> rows_;
  ForwardOutput output_;
  WaitingLogits fetched_;    // output_'s rows, where they lie on a device
  int first_logit_row_ = 0;  // number of rows of output_.logits before those of rows_
  std::vector<std::int32_t> feature_layers_;
  int best_tokens_ = 0;
  FeatureSource input_source_;
  TokenSource token_source_;
  std::vector<std::int32_t> input_tokens_;  // those of the running forward, where they are given
  std::vector<float> input_features_;       // those of the running forward
  std::vector<float> prefill_features_;     // [feature_layers, positions, hidden]
  std::int32_t prefill_positions_ = 0;
  std::int32_t horizon_ = 0;
  // The text has outgrown ModelInfo::kv_valid_until: all KV is of the longer kind.
  bool outgrown_ = false;
  std::vector<std::vector<capture::InputRow>> inputs_;
  std::vector<capture::ExpertRow> experts_;
  RunnerFigures figures_;
};

}  // namespace triescope
