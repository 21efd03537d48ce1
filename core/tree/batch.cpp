// batch: conventional beam search. Every beam has a whole cache of its own. The prompt lies there b
// times, and after each step all caches are gathered again from those of the beams that survived
// (transformers' reorder_cache: one index_select over the whole cache, also for beams that keep
// their place). This is the baseline that the other policies are measured against.
//
// The slot of position p in cache i is line * b + i. All caches grow by a line together, so nothing
// moves for that; a line that is out of every window is used again. Row i of a forward is the
// frontier's i-th node and belongs to cache i. Drafts have no cache and are refused.
#include <algorithm>
#include <deque>
#include <string>

#include "core/base/error.h"
#include "core/tree/policies.h"

namespace triescope {
namespace {

class BatchPolicy final : public KvPolicy {
 public:
  BatchPolicy(SlotStore& store, std::int32_t beams) : store_(store), beams_(beams) {}

  std::vector<std::int32_t> place_prefix(const TokenTree& tree, std::span<const NodeId> path,
                                         std::int32_t skipped) override {
    if (skipped != 0)
      throw Error(
          ErrorCode::kInvalidArgument,
          "kv=batch: expected a model that runs the whole prompt; found one that leaves out "
          "its first " +
              std::to_string(skipped) + " tokens");
    std::vector<std::int32_t> slots;
    length_ = tree.prompt_tokens() + static_cast<std::int32_t>(path.size());
    take_lines(length_);
    for (std::int32_t p = 0; p < length_; ++p) {
      const std::int32_t below = p - tree.prompt_tokens();
      slots.push_back(slot_at(p, 0));
      if (below < 0) {
        store_.take(slots.back(), prompt_occupant(p));
      } else {
        store_.take(slots.back(), path[static_cast<std::size_t>(below)].value);
      }
    }
    return slots;
  }

  Placement place(const TokenTree&, std::span<const NodeId> rows) override {
    if (static_cast<std::int32_t>(rows.size()) > beams_)
      throw Error(ErrorCode::kInvalidArgument,
                  "kv=batch: expected at most " + std::to_string(beams_) +
                      " rows, one a cache; found " + std::to_string(rows.size()));
    Placement out;
    take_lines(length_ + 1);
    out.own_offsets.push_back(0);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(rows.size()); ++i) {
      const NodeId row = rows[static_cast<std::size_t>(i)];
      const std::int32_t slot = slot_at(length_, i);
      store_.take(slot, row.value);
      out.slots.push_back(slot);
      for (std::int32_t p = first_; p <= length_; ++p) out.own_slots.push_back(slot_at(p, i));
      out.own_offsets.push_back(static_cast<std::int32_t>(out.own_slots.size()));
    }
    rows_.assign(rows.begin(), rows.end());
    length_ += 1;
    return out;
  }

  void commit(const TokenTree& tree, const Committed& step) override {
    const auto next = static_cast<std::int32_t>(step.frontier.size());
    forget_before(step.horizon);
    if (rows_.empty()) {
      for (std::int32_t i = 1; i < next; ++i)
        for (std::int32_t p = first_; p < length_; ++p) copy(slot_at(p, 0), slot_at(p, i));
    } else {
      for (std::int32_t i = 0; i < next; ++i) {
        const std::int32_t cache =
            cache_of(tree[step.frontier[static_cast<std::size_t>(i)]].parent);
        for (std::int32_t p = first_; p < length_; ++p) copy(slot_at(p, cache), slot_at(p, i));
      }
    }
    // All copies of a dead node lie in caches that are about to be overwritten.
    for (const NodeId id : step.dropped) {
      if (tree.position(id) < first_) continue;
      for (std::int32_t i = 0; i < beams_; ++i) {
        const std::int32_t slot = slot_at(tree.position(id), i);
        if (store_.occupant(slot) == id.value) store_.release(slot);
      }
    }
    store_.move(from_, to_);
    from_.clear();
    to_.clear();
    const auto had = static_cast<std::int32_t>(rows_.size());
    for (std::int32_t i = next; i < had; ++i)
      for (std::int32_t p = first_; p < length_; ++p) store_.release(slot_at(p, i));
  }

 private:
  std::int32_t slot_at(std::int32_t position, std::int32_t cache) const {
    return lines_[static_cast<std::size_t>(position - first_)] * beams_ + cache;
  }
  // Gives positions first_ .. end - 1 a line each.
  void take_lines(std::int32_t end) {
    while (first_ + static_cast<std::int32_t>(lines_.size()) < end) {
      if (free_lines_.empty()) free_lines_.push_back(line_count_++);
      lines_.push_back(free_lines_.back());
      free_lines_.pop_back();
    }
    store_.reserve(line_count_ * beams_);
  }
  void forget_before(std::int32_t horizon) {
    for (; first_ < std::min(horizon, length_); ++first_) {
      for (std::int32_t i = 0; i < beams_; ++i) store_.release(slot_at(first_, i));
      free_lines_.push_back(lines_.front());
      lines_.pop_front();
    }
  }
  std::int32_t cache_of(NodeId row) const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i] == row) return static_cast<std::int32_t>(i);
    throw Error(
        ErrorCode::kInvalidArgument,
        "kv=batch: expected node " + std::to_string(row.value) + " among the rows of this step");
  }
  void copy(std::int32_t from, std::int32_t to) {
    from_.push_back(from);
    to_.push_back(to);
  }

  SlotStore& store_;
  std::int32_t beams_;
  std::int32_t length_ = 0;         // positions of the text
  std::int32_t first_ = 0;          // every cache holds positions first_ .. length_ - 1
  std::deque<std::int32_t> lines_;  // by position, from first_ on
  std::vector<std::int32_t> free_lines_;
  std::int32_t line_count_ = 0;
  std::vector<NodeId> rows_;  // rows of the last forward; row i wrote to cache i
  std::vector<std::int32_t> from_, to_;
};

}  // namespace

std::unique_ptr<KvPolicy> make_batch_policy(SlotStore& store, std::int32_t beams) {
  return std::make_unique<BatchPolicy>(store, beams);
}

}  // namespace triescope
