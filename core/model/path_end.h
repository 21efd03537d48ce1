// The end of a row's path, as a short convolution takes it from the list of slots that the row sees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/kernels/tree_attention.h"

namespace triescope {

// Copies the last slots that a row sees into `room`, the row's own last. Returns the part of `room` that holds them: all of
// it, unless the row sees fewer.
inline std::span<const std::int32_t> path_end(const kernels::VisibleSlots& visible, std::size_t row,
                                              std::span<std::int32_t> room) {
  const auto own = visible.of(row);
  const std::size_t of_own = std::min(room.size(), own.size());
  const std::size_t shared = std::min(room.size() - of_own, visible.prefix.size());
  const auto rest = std::ranges::copy(visible.prefix.last(shared), room.begin()).out;
  std::ranges::copy(own.last(of_own), rest);
  return room.first(shared + of_own);
}

}  // namespace triescope
