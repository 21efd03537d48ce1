// DraftRunner: a second model that runs over the target's tree. It has its own KV and slots, and
// one forward a level, the tree's mask as everywhere: a row sees the prompt, its ancestors and
// itself. What the target refused is forgotten at the next follow(): both caches go back to the
// accepted length. Not thread-safe.
//
// A draft model of a shorter context than the target's drafts nothing beyond its own, one of a
// shorter vocabulary nothing after a token it does not have (follows(), reaches()). Where its rope
// changes with the text's length (ModelInfo::kv_valid_until), its KV is made anew once the text has
// outgrown the limit, and no level crosses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "core/method/method.h"
#include "core/model/model.h"
#include "core/tree/token_tree.h"

namespace triescope {

class DraftRunner {
 public:
  explicit DraftRunner(Model& model) : model_(model) {}

  // Whether follow() can go to `node`, and whether extend() can run nodes at a position.
  bool follows(const TokenTree& tree, std::span<const std::int32_t> prompt, NodeId node) const;
  bool reaches(std::int32_t position) const;

  // Makes the KV of the text up to `node` whole, in one forward over what is new (the prompt in
  // pieces at first), and forgets every node that is not on it. Then row 0 is `node`'s.
  // Errors: Model::forward's.
  void follow(const TokenTree& tree, std::span<const std::int32_t> prompt, NodeId node,
              std::stop_token stop);
  // One forward over nodes below the followed one; parents first have had theirs. Then row i is
  // nodes[i]'s. REQUIRES: reaches() of their positions.
  void extend(const TokenTree& tree, std::span<const NodeId> nodes, std::stop_token stop);
  // Raw fp32 logits [vocab_size] of the last forward's row; ids that this model does not have are
  // -infinity, those beyond vocab_size are left out. Valid until the next call of any function.
  std::span<const float> logits(int row, int vocab_size);

  DrafterCost cost() const { return cost_; }

 private:
  std::int32_t take_slot();
  void forward(const ForwardBatch& batch, std::stop_token stop);

  Model& model_;
  std::unique_ptr<KvStorage> kv_;
  std::int32_t slots_used_ = 0;           // one past the highest ever taken
  std::vector<std::int32_t> free_;        // below that
  std::vector<std::int32_t> path_slots_;  // of prompt and followed path, in path order
  std::vector<NodeId> path_;              // nodes of the followed path: the tail of path_slots_
  std::vector<NodeId> below_;             // nodes extended below it
  std::vector<std::int32_t> below_slots_;
  bool outgrown_ = false;  // KV is of texts beyond kv_valid_until
  ForwardOutput output_;
  std::vector<float> row_;
  DrafterCost cost_;
};

}  // namespace triescope
