// Shared by the KV storages of both executors: how they grow, and which moves they refuse.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace triescope {

// Slots to allocate where `needed` > `capacity`: at least half as many again as there are, so that
// growing slot by slot copies each slot a bounded number of times.
int grown_capacity(int capacity, int needed);
// Allocates grown_capacity() slots if `needed` > `capacity`, or just `needed` where there is no
// memory for more. Errors: those of `allocate`.
void grow(int capacity, int needed, const std::function<void(int capacity)>& allocate);

// Error{kInvalidArgument}: lists of different lengths, or a slot not below `capacity`.
void check_move(std::span<const std::int32_t> from, std::span<const std::int32_t> to, int capacity);
// The same for a copy between two storages.
void check_copy(std::span<const std::int32_t> from, int from_capacity,
                std::span<const std::int32_t> to, int to_capacity);
// KvStorage::write() of layers with K and V of several widths, or without: Error{kNotSupported}.
void check_even(bool even);
// KvStorage::write(): do the slots lie below `capacity`, and are there `values_per_slot` (all layers')
// keys and values for each? Error{kInvalidArgument}.
void check_write(std::span<const std::int32_t> slots, std::span<const float> keys,
                 std::span<const float> values, std::size_t values_per_slot, int capacity);

}  // namespace triescope
