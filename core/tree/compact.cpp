// compact: the trie paper's garbage collection (Algorithms 2 and 3). Between two collections dead
// nodes stay as garbage and new nodes take fresh slots. Every g-th step the survivors are gathered
// at the front in the order in which they lay, and the rest is freed.
#include "core/tree/policies.h"
#include "core/tree/tree_policy.h"

namespace triescope {
namespace {

class CompactPolicy final : public TreePolicy {
 public:
  CompactPolicy(SlotStore& store, std::int32_t every) : TreePolicy(store), every_(every) {}

 private:
  std::int32_t next_slot() override {
    store_.reserve(used_ + 1);
    return used_++;
  }
  void drop(std::int32_t slot) override { store_.mark_garbage(slot); }

  std::vector<std::int32_t> collect(const Committed& step) override {
    if (step.step == 0 || step.step % every_ != 0 || store_.garbage() == 0) return {};
    std::vector<std::int32_t> map(static_cast<std::size_t>(used_), -1), from, to;
    std::int32_t next = 0;
    for (std::int32_t slot = 0; slot < used_; ++slot) {
      if (store_.use(slot) != SlotUse::kLive) continue;
      map[static_cast<std::size_t>(slot)] = next;
      if (slot != next) {
        from.push_back(slot);
        to.push_back(next);
      }
      ++next;
    }
    for (std::int32_t slot = 0; slot < used_; ++slot)
      if (store_.use(slot) == SlotUse::kGarbage) store_.release(slot);
    store_.move(from, to);
    for (std::int32_t slot = next; slot < used_; ++slot) store_.release(slot);
    used_ = next;
    return map;
  }

  std::int32_t every_;
  std::int32_t used_ = 0;
};

}  // namespace

std::unique_ptr<KvPolicy> make_compact_policy(SlotStore& store, std::int32_t every) {
  return std::make_unique<CompactPolicy>(store, every);
}

}  // namespace triescope
