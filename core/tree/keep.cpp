// keep: every node takes a fresh slot, and garbage stays until the end. This ablates the trie
// paper's garbage collection.
#include "core/tree/policies.h"
#include "core/tree/tree_policy.h"

namespace triescope {
namespace {

class KeepPolicy final : public TreePolicy {
 public:
  using TreePolicy::TreePolicy;

 private:
  std::int32_t next_slot() override {
    store_.reserve(used_ + 1);
    return used_++;
  }
  void drop(std::int32_t slot) override { store_.mark_garbage(slot); }

  std::int32_t used_ = 0;
};

}  // namespace

std::unique_ptr<KvPolicy> make_keep_policy(SlotStore& store) {
  return std::make_unique<KeepPolicy>(store);
}

}  // namespace triescope
