#include "core/model/kv_slots.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace triescope {

namespace {

void check_slots(const std::string& what, std::span<const std::int32_t> slots, int capacity) {
  for (const std::int32_t slot : slots) {
    if (slot >= 0 && slot < capacity) continue;
    throw Error(ErrorCode::kInvalidArgument, what + ": expected slots from 0 to " +
                                                 std::to_string(capacity - 1) + ", found " +
                                                 std::to_string(slot));
  }
}

}  // namespace

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

void check_copy(std::span<const std::int32_t> from, int from_capacity,
                std::span<const std::int32_t> to, int to_capacity) {
  if (from.size() != to.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                "KV move: expected as many targets as sources, found " + std::to_string(to.size()) +
                    " and " + std::to_string(from.size()));
  }
  check_slots("KV move", from, from_capacity);
  check_slots("KV move", to, to_capacity);
}

void check_move(std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                int capacity) {
  check_copy(from, capacity, to, capacity);
}

void check_even(bool even) {
  if (even) return;
  throw Error(
      ErrorCode::kNotSupported,
      "KV that no forward computes needs layers with K and V of one width, and this model's are of "
      "several or shared, or some of its layers are convolutions and have none: choose a draft head "
      "without a trained prefix");
}

void check_write(std::span<const std::int32_t> slots, std::span<const float> keys,
                 std::span<const float> values, std::size_t values_per_slot, int capacity) {
  check_slots("KV write", slots, capacity);
  const std::size_t expected = slots.size() * values_per_slot;
  if (keys.size() == expected && values.size() == expected) return;
  throw Error(ErrorCode::kInvalidArgument,
              "KV write: expected " + std::to_string(expected) + " keys and as many values for " +
                  std::to_string(slots.size()) + " slots, found " + std::to_string(keys.size()) +
                  " and " + std::to_string(values.size()));
}

}  // namespace triescope
