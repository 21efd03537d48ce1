// A ForwardBatch checked and brought to one form: the visible slots of every row as prefix plus a
// list of its own.
#pragma once

#include <cstdint>
#include <span>

#include "core/formats/config.h"
#include "core/model/model.h"

namespace triescope {

// Borrows from the batch.
struct VisibleSlots {
  std::span<const std::int32_t> prefix;
  std::span<const std::int32_t> own;
  std::span<const std::int32_t> offsets;  // [rows + 1]; empty = causal: row r sees own[0..r]
  std::span<const std::int32_t> of(std::size_t row) const {
    if (offsets.empty()) return own.first(row + 1);
    return own.subspan(static_cast<std::size_t>(offsets[row]),
                       static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
  }
};

// Checks ids, positions, slots and lists against the model and the KV capacity.
// Error{kInvalidArgument} says which entry. `position_end`: positions must lie below.
VisibleSlots check_batch(const ForwardBatch& batch, const formats::ModelConfig& config,
                         int position_end, int capacity);

}  // namespace triescope
