// recycle: a dead node's slot goes to a free list at once and the next node takes it. Positions and
// visible slots are explicit, so order in memory does not matter: nothing is ever copied, and the
// slots taken are exactly the live tokens. The lowest free slot goes first: the strip stays dense,
// and the same run always gives the same slots.
#include <functional>
#include <queue>

#include "core/tree/policies.h"
#include "core/tree/tree_policy.h"

namespace triescope {
namespace {

class RecyclePolicy final : public TreePolicy {
 public:
  using TreePolicy::TreePolicy;

 private:
  std::int32_t next_slot() override {
    if (free_.empty()) {
      store_.reserve(used_ + 1);
      return used_++;
    }
    const std::int32_t slot = free_.top();
    free_.pop();
    return slot;
  }
  void drop(std::int32_t slot) override {
    store_.release(slot);
    free_.push(slot);
  }

  std::int32_t used_ = 0;
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> free_;
};

}  // namespace

std::unique_ptr<KvPolicy> make_recycle_policy(SlotStore& store) {
  return std::make_unique<RecyclePolicy>(store);
}

}  // namespace triescope
