// The factories behind make_kv_policy(). Each is in a file of its own.
#pragma once

#include <memory>

#include "core/tree/kv_policy.h"

namespace triescope {

std::unique_ptr<KvPolicy> make_batch_policy(SlotStore& store, std::int32_t beams);
std::unique_ptr<KvPolicy> make_keep_policy(SlotStore& store);
std::unique_ptr<KvPolicy> make_compact_policy(SlotStore& store, std::int32_t every);
std::unique_ptr<KvPolicy> make_recycle_policy(SlotStore& store);

}  // namespace triescope
