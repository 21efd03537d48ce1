#include "core/model/kv_slots.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace triescope {

int grown_capacity(int capacity, int needed) {
  const std::int64_t grown = std::max<std::int64_t>(needed, std::int64_t{capacity} + capacity / 2);
  return static_cast<int>(std::min<std::int64_t>(grown, std::numeric_limits<int>::max()));
}

void grow(int capacity, int needed, const std::function<void(int capacity)>& allocate) {
  if (needed <= capacity) return;
  const int wanted = grown_capacity(capacity, needed);
  try {
    allocate(wanted);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory || wanted == needed) throw;
    allocate(needed);
  }
}

void check_move(std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                int capacity) {
  if (from.size() != to.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                "KV move: expected as many targets as sources, found " + std::to_string(to.size()) +
                    " and " + std::to_string(from.size()));
  }
  for (const auto& slots : {from, to}) {
    for (const std::int32_t slot : slots) {
      if (slot >= 0 && slot < capacity) continue;
      throw Error(ErrorCode::kInvalidArgument, "KV move: expected slots from 0 to " +
                                                   std::to_string(capacity - 1) + ", found " +
                                                   std::to_string(slot));
    }
  }
}

}  // namespace triescope
