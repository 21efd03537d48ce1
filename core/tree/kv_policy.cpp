#include "core/tree/kv_policy.h"

#include "core/base/error.h"
#include "core/tree/policies.h"

namespace triescope {

const char* to_string(KvPolicyKind kind) {
  switch (kind) {
    case KvPolicyKind::kBatch:
      return "batch";
    case KvPolicyKind::kKeep:
      return "keep";
    case KvPolicyKind::kCompact:
      return "compact";
    case KvPolicyKind::kRecycle:
      return "recycle";
  }
  return "unknown";
}

std::unique_ptr<KvPolicy> make_kv_policy(const KvPolicyOptions& options, SlotStore& store) {
  switch (options.kind) {
    case KvPolicyKind::kBatch:
      return make_batch_policy(store, options.beams);
    case KvPolicyKind::kKeep:
      return make_keep_policy(store);
    case KvPolicyKind::kCompact:
      return make_compact_policy(store, options.gc_every);
    case KvPolicyKind::kRecycle:
      return make_recycle_policy(store);
  }
  throw Error(ErrorCode::kInvalidArgument, "kv: expected batch, keep, compact or recycle");
}

}  // namespace triescope
