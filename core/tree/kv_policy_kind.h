// The names of the KV policies (kv_policy.h says what each does).
#pragma once

#include <cstdint>

namespace triescope {

enum class KvPolicyKind : std::uint8_t { kBatch, kKeep, kCompact, kRecycle };
const char* to_string(KvPolicyKind kind);  // "batch", "keep", "compact", "recycle"

}  // namespace triescope
